# A server with state in memory and an open connection to the database, as an agent's application has.
import http.server
import sqlite3

hits = 0
database = sqlite3.connect('/root/loop/data.db', isolation_level=None, timeout=10)
database.execute('pragma journal_mode=wal')
database.execute('create table if not exists rows (key integer primary key, text)')


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        global hits
        words = self.path.strip('/').split('/')
        if words[0] == 'hit':
            hits += 1
        elif words[0] == 'put':
            database.execute('begin immediate')
            database.execute('insert or replace into rows values (?, ?)', (int(words[1]), words[2]))
            database.execute('commit')
        body = f'hits {hits}\n'.encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


server = http.server.HTTPServer(('127.0.0.1', 8000), Handler)
print('listening', flush=True)
server.serve_forever()
