// What the quickstart runs in its environment: only programs that every Linux machine has.

const port = 8000

/** A path that does not exist on this machine, whose files the environment starts with. */
export const directory = '/srv/forkpoint-demo'

/** A web server that counts its visitors in memory, and nowhere else. */
const servers = [
  `command -v python3 >/dev/null && cat > server <<'END'
#!/usr/bin/env python3
import http.server
visits = 0
class Counter(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global visits
        visits += 1
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"visit number {visits}\\n".encode())
    def log_message(self, *args): pass
http.server.HTTPServer(("127.0.0.1", ${port}), Counter).serve_forever()
END`,
  `command -v perl >/dev/null && cat > server <<'END'
#!/usr/bin/env perl
use Socket;
socket(my $listener, PF_INET, SOCK_STREAM, 0) or die;
setsockopt($listener, SOL_SOCKET, SO_REUSEADDR, 1);
bind($listener, sockaddr_in(${port}, INADDR_LOOPBACK)) or die;
listen($listener, 5);
my $visits = 0;
while (accept(my $client, $listener)) {
    while (my $line = <$client>) { last if $line =~ /^\\r?$/ }
    $visits++;
    print $client "HTTP/1.0 200 OK\\r\\n\\r\\nvisit number $visits\\n";
    close $client;
}
END`,
]

/** A function of the shell; it waits for a server that has only just been started. */
const visit = `visit() {
  for try in {1..100}; do
    (exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && tail -n 1 <&3) \\
      2>/dev/null && return
    sleep 0.05
  done
  echo 'the server does not answer' >&2
  return 1
}`

/** Writes the server and the data, and defines \`visit\`. */
export const prepare = `mkdir -p ${directory} && cd ${directory} && {
${servers.join('\n} || {\n')}
} && chmod +x server && seq 1 150000 > data.txt && ${visit}`

/** How it is shown on the screen. */
export const preparation = `cd ${directory}; cat > server; seq 1 150000 > data.txt; visit() { … }`

export const startServer = './server & visit'

export const startCounter =
  '(n=0; while sleep 0.1; do echo $((++n)) > count; done) & sleep 0.5; cat count'

/** What each branch tries. */
export const attempts = ['gzip -1', 'gzip -6', 'gzip -9'] as const

/** Prints a line from the server, then the size. */
export function attempt(program: string): string {
  return `visit; ${program} < data.txt > data.gz; wc -c < data.gz`
}
