# A slow download from a server on loopback, and one that is kept alive between requests.
import http.client
import http.server
import os
import threading
import time

from program import end, is_over, notice, ready, same, working

length = 400_000


def body(at, size):
    return bytes((at + i) * 7 % 251 for i in range(size))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Length', str(length))
        self.end_headers()
        for at in range(0, length, 10_000):
            self.wfile.write(body(at, 10_000))
            if not is_over():
                time.sleep(0.05)

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
connection = http.client.HTTPConnection('127.0.0.1', server.server_port, timeout=300)
expected = body(0, length)
ready()
while working():
    try:
        connection.request('GET', '/')
        same('the body', True, connection.getresponse().read() == expected)
    except OSError as error:
        notice(f'{type(error).__name__}: {error}')
end()
os._exit(0)
