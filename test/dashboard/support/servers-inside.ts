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

/** A desktop on port 5901, whose background an X client has drawn in one colour. */
export function desktop(colour: string): string {
  return `
Xvfb :1 -screen 0 320x200x24 -nolisten tcp -noreset -displayfd 1 2>/dev/null | (
  read -r display
  DISPLAY=:$display xsetroot -solid '${colour}'
  exec x11vnc -quiet -display ":$display" -rfbport 5901 -localhost -forever -shared -nopw
)`
}
