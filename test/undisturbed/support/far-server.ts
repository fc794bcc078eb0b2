import { once } from 'node:events'
import type { OutsideNetwork } from '../../support/outside-network.ts'

// Numbers the lines that it hears on a connection; after "download" it sends counted bytes as long as anybody
// reads them, after "upload" it checks those that it gets. Datagrams go back as they came.
const program = `
import socket, socketserver, threading, time
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for number, line in enumerate(self.rfile, 1):
            if line == b'download\\n': return self.download()
            if line == b'upload\\n': return self.upload()
            self.wfile.write(b'%d %s' % (number, line))
    def download(self):
        at = 0
        try:
            while True:
                self.wfile.write(bytes((at + i) % 251 for i in range(5000)))
                at += 5000
                time.sleep(0.02)
        except OSError:
            pass
    def upload(self):
        at, right = 0, True
        while data := self.rfile.read1(60000):
            right = right and data == bytes((at + i) % 251 for i in range(len(data)))
            at += len(data)
        self.wfile.write(b'%d %s\\n' % (at, b'right' if right else b'wrong'))
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
def echo():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(('0.0.0.0', 7100))
    while True:
        data, peer = s.recvfrom(2000)
        s.sendto(data, peer)
threading.Thread(target=echo, daemon=True).start()
server = Server(('0.0.0.0', 7100), Handler)
print('listening', flush=True)
server.serve_forever()
`

/** What the programs that talk to the outside talk to (../programs/outside.py). */
export async function startFarServer(outside: OutsideNetwork): Promise<AsyncDisposable> {
  const server = outside.python(program)
  if (server.stdout) await once(server.stdout, 'data')
  return {
    async [Symbol.asyncDispose]() {
      if (server.kill('SIGKILL')) await once(server, 'exit')
    },
  }
}
