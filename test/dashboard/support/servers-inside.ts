/** A page that says what it may reach: on port 8123. */
export const pageInside = `
import http.server
page = b'''<!doctype html><title>inside</title><link rel=stylesheet href=style.css><p id=says>loading</p><script>
let storage = 'no storage'
try { if (sessionStorage.length >= 0) storage = 'storage ' + JSON.stringify(sessionStorage) } catch {}
onload = () => {
  const style = getComputedStyle(says).color === 'rgb(1, 2, 3)' ? 'style loaded' : 'no style'
  says.textContent = 'origin ' + origin + ', ' + storage + ', ' + style
}
</script>'''
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        is_style = self.path == '/style.css'
        self.send_response(200)
        self.send_header('content-type', 'text/css' if is_style else 'text/html')
        self.send_header('set-cookie', 'spy=1')
        self.end_headers()
        self.wfile.write(b'p { color: rgb(1, 2, 3) }' if is_style else page)
http.server.ThreadingHTTPServer(('127.0.0.1', 8123), Page).serve_forever()
`

/** A desktop of one colour, as a VNC server without a password shows it: on port 5901. */
export const vncServer = `
import socketserver, struct
width, height = 64, 48
class Desktop(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b'RFB 003.008\\n')
        self.rfile.read(12)
        self.wfile.write(b'\\1\\1')
        self.rfile.read(1)
        self.wfile.write(b'\\0\\0\\0\\0')
        self.rfile.read(1)
        form = struct.pack('>BBBBHHHBBBxxx', 32, 24, 0, 1, 255, 255, 255, 16, 8, 0)
        self.wfile.write(struct.pack('>HH', width, height) + form + struct.pack('>I', 4) + b'test')
        shifts = (16, 8, 0)
        while kind := self.rfile.read(1):
            if kind == b'\\0':
                sent = self.rfile.read(19)
                shifts = tuple(sent[13:16])
            elif kind == b'\\2':
                count = struct.unpack('>xH', self.rfile.read(3))[0]
                self.rfile.read(4 * count)
            elif kind == b'\\3':
                self.rfile.read(9)
                pixel = struct.pack('<I', sum(part << shift for part, shift in zip((23, 105, 76), shifts)))
                self.wfile.write(struct.pack('>BxHHHHHi', 0, 1, 0, 0, width, height, 0) + pixel * width * height)
            elif kind == b'\\4':
                self.rfile.read(7)
            elif kind == b'\\5':
                self.rfile.read(5)
            else:
                return
socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer(('127.0.0.1', 5901), Desktop).serve_forever()
`
