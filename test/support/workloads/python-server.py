# Serves what it has in memory; one of its threads counts.
import http.server
import json
import threading
import time

state = {'answer': 42, 'ticks': 0, 'marks': []}


def count():
    while True:
        state['ticks'] += 1
        time.sleep(0.01)


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path.startswith('/mark/'):
            state['marks'].append(self.path[6:])
            body = b'marked'
        else:
            body = json.dumps(state | {'threads': threading.active_count()}).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)


threading.Thread(target=count, daemon=True).start()
server = http.server.HTTPServer(('127.0.0.1', 8000), Handler)
print('listening', flush=True)
server.serve_forever()
