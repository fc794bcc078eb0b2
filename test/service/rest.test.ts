import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { TokenOptions } from '../../src/index.ts'
import { serveHome } from './support/served-home.ts'

const home = await serveHome('rest', 'ports.test')
afterAll(() => home[Symbol.asyncDispose]())
const token = await home.token({ scope: 'admin' })

async function call(path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await home.fetch(path, { token, headers, ...(body !== undefined && { body }) })
  const text = await response.text()
  return { status: response.status, json: text === '' ? null : JSON.parse(text), response }
}

const { json: web } = await call('/v1/environments', { name: 'web', from: { host: true } })
const base = `/v1/environments/${web.id}`

/** The documents of a body with one on each line. */
const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('branching with curl', () => {
  test('creates, snapshots, forks, restores and removes', async () => {
    expect(web).toMatchObject({ name: 'web', status: 'running', source: { kind: 'host' } })
    const { json: taken } = await call(`${base}/snapshots`, { name: 'ready' })
    expect(taken).toMatchObject({ kind: 'snapshot', name: 'ready' })
    const { json: forks } = await call(`/v1/snapshots/ready/fork`, { count: 2 })
    expect(forks).toHaveLength(2)
    expect((await call(`${base}/restore`, { to: 'ready' })).json).toMatchObject({ id: web.id })
    for (const { id } of forks) {
      const removed = await home.fetch(`/v1/environments/${id}?force=true`, {
        method: 'DELETE',
        token,
      })
      expect(removed.status).toBe(204)
    }
    expect((await call('/v1/environments')).json).toHaveLength(1)
  })

  test('a failure has a code, a remedy and the id of the request', async () => {
    const { status, json, response } = await call('/v1/environments/nobody')
    expect(status).toBe(404)
    expect(json.error).toMatchObject({ code: 'not_found', remedy: expect.any(String) })
    expect(response.headers.get('x-request-id')).toBe(json.error.requestId)
    expect((await call(`${base}/fork`, { count: 'many' })).status).toBe(400)
    expect((await home.fetch(`${base}/fork`, { token, raw: '{' })).status).toBe(400)
  })

  test('the same key means the same answer; another call with it is refused', async () => {
    const headers = { 'idempotency-key': 'snap-1' }
    const [first, second] = await Promise.all([
      call(`${base}/snapshots`, { message: 'one' }, headers),
      call(`${base}/snapshots`, { message: 'one' }, headers),
    ])
    expect(second.json).toEqual(first.json)
    expect((await call(`${base}/snapshots`, { message: 'two' }, headers)).status).toBe(409)
  })
})

describe('our own client', () => {
  test('takes a key, too, and gets the same environment each time', async () => {
    const wanted = { name: 'keyed', idempotencyKey: 'create-1' }
    const [first, second] = [await home.fp.create(wanted), await home.fp.create(wanted)]
    expect(second.id).toBe(first.id)
    await first.remove()
  })
})

describe('commands with curl', () => {
  test('exec answers at once, as JSON lines or as server-sent events', async () => {
    const command = 'echo out; echo err >&2; false'
    const { json } = await call(`${base}/exec`, { command })
    expect(json).toMatchObject({ exitCode: 1, stdout: 'out\n', stderr: 'err\n' })
    const lines = await home.fetch(`${base}/exec`, {
      token,
      body: { command },
      headers: { accept: 'application/x-ndjson' },
    })
    const documents = linesOf(await lines.text())
    expect(documents.at(0)).toMatchObject({ type: 'start' })
    expect(documents).toContainEqual({ type: 'stdout', data: 'out\n', offset: 4 })
    expect(documents.at(-1)).toMatchObject({ type: 'exit', exitCode: 1 })
    const events = await home.fetch(`${base}/exec`, {
      token,
      body: { command },
      headers: { accept: 'text/event-stream' },
    })
    expect(await events.text()).toContain('data: {"type":"exit","exitCode":1')
  })

  test('a command is started, fed, signalled and read again from an offset', async () => {
    const words = { command: ['cat'], mode: 'process', stdin: 'streamed', id: 'cat' }
    expect((await call(`${base}/commands`, words)).json).toMatchObject({ id: 'cat', running: true })
    const sent = { 'idempotency-key': 'typed-1' }
    for (let times = 0; times < 2; times += 1) {
      expect((await call(`${base}/commands/cat/input`, { data: 'hello\n' }, sent)).status).toBe(204)
    }
    const output = () => call(`${base}/commands/cat/output?stdout=2`).then(({ json }) => json)
    await expect.poll(output).toMatchObject({
      stdout: 'llo\n',
      offsets: { stdout: 6, stderr: 0 },
      running: true,
    })
    expect((await call(`${base}/commands/cat/signal`, { signal: 'SIGTERM' })).status).toBe(204)
    await expect
      .poll(() => call(`${base}/commands/cat`).then(({ json }) => json))
      .toMatchObject({ running: false, exit: { signal: 'SIGTERM' } })
  })

  test('a detached command holds up nobody, is listed with its processes, and is killed after its grace', async () => {
    await call(`${base}/exec`, { command: 'cd /srv; word=kept' })
    const command = "trap '' INT; echo $word in $PWD; while :; do sleep 1; done"
    const started = { command, mode: 'detached', id: 'own' }
    const { json } = await call(`${base}/commands`, started)
    expect(json).toMatchObject({ id: 'own', running: true })
    expect((await call(`${base}/exec`, { command: 'echo free' })).json.stdout).toBe('free\n')
    const output = () => call(`${base}/commands/own/output`).then((answer) => answer.json.stdout)
    await expect.poll(output).toBe('kept in /srv\n')
    expect((await call(`${base}/commands/own`)).json).toMatchObject({ mode: 'detached' })
    const { json: processes } = await call(`${base}/processes`)
    expect(processes).toContainEqual(expect.objectContaining({ pid: json.pid, parent: 1 }))
    const signal = { signal: 'SIGINT', graceMs: 100 }
    expect((await call(`${base}/commands/own/signal`, signal)).status).toBe(204)
    await expect
      .poll(() => call(`${base}/commands/own`).then((answer) => answer.json))
      .toMatchObject({ running: false, exit: { signal: 'SIGKILL' } })
  })

  test('a terminal is typed into, resized and read', async () => {
    const terminal = `${base}/terminals/t1`
    expect((await call(`${terminal}/input`, { data: 'echo $((40+2))\n' })).status).toBe(204)
    const screen = () => call(`${terminal}/screen`).then(({ json }) => json.lines.join('\n'))
    await expect.poll(screen).toContain('\n42')
    expect((await call(`${terminal}/resize`, { cols: 90, rows: 20 })).status).toBe(204)
    const socket = new WebSocket(`${home.url.replace('http', 'ws')}${terminal}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    let seen = ''
    socket.on('message', (data) => {
      seen += String(data)
    })
    await once(socket, 'open')
    socket.send(Buffer.from('echo $((50+5))\n'))
    await expect.poll(() => seen).toContain('55')
    socket.close()
    expect((await home.fetch(terminal, { method: 'DELETE', token })).status).toBe(204)
  })
})

describe('files and ports with curl', () => {
  test('files are written, read, listed, packed and unpacked', async () => {
    const put = { method: 'PUT', token } as const
    const file = `${base}/files?path=/tmp/rest/a.txt`
    const content = new Uint8Array([0, 255, 10, 128])
    expect((await home.fetch(`${file}&makeParents=true`, { ...put, raw: content })).status).toBe(
      204,
    )
    const read = await home.fetch(file, { token })
    expect(new Uint8Array(await read.arrayBuffer())).toEqual(content)
    expect((await call(`${base}/files/list?path=/tmp/rest`)).json).toMatchObject([
      { name: 'a.txt' },
    ])
    const packed = await home.fetch(`${base}/files/archive?path=/tmp/rest`, { token })
    const archive = new Uint8Array(await packed.arrayBuffer())
    expect((await call(`${base}/files/mkdir`, { path: '/tmp/copy' })).status).toBe(204)
    const target = `${base}/files/archive?path=/tmp/copy`
    expect((await home.fetch(target, { ...put, raw: archive })).status).toBe(204)
    expect((await call(`${base}/files/stat?path=/tmp/copy/rest/a.txt`)).json.sizeBytes).toBe(4)
    expect((await home.fetch(target, { ...put, raw: 'no archive' })).status).toBe(409)
    expect((await call(`${base}/files?path=/tmp/none`)).status).toBe(404)
  })

  test('changes of files are reported as they happen', async () => {
    const stop = new AbortController()
    const watch = await home.fetch(`${base}/files/watch?path=/tmp/rest`, {
      token,
      headers: { accept: 'application/x-ndjson' },
      signal: stop.signal,
    })
    await call(`${base}/exec`, { command: 'touch /tmp/rest/b.txt' })
    const { value } = (await watch.body?.getReader().read()) ?? {}
    expect(linesOf(new TextDecoder().decode(value))).toContainEqual(
      expect.objectContaining({ kind: 'created', path: 'b.txt' }),
    )
    stop.abort()
  })

  test('a server inside is reached by path and by host name, and never sees the token', async () => {
    const command = ['python3', '-u', '-c', server]
    await call(`${base}/commands`, { command, mode: 'process', id: 'server' })
    const page = () => call(`${base}/ports/8080/some/page?x=1`).then(({ json }) => json)
    await expect.poll(page).toMatchObject({ path: '/some/page?x=1', authorization: null })
    const posted = await home.fetch(`${base}/ports/8080/post`, { token, raw: 'body' })
    expect(await posted.json()).toMatchObject({ method: 'POST', body: 'body' })
    const { hostname, port } = new URL(home.url)
    const byName = await rawGet(hostname, Number(port), `8080-${web.id}.ports.test`, '/by-name')
    expect(byName).toContain('"path": "/by-name"')
    expect((await call(`${base}/ports/9/`)).status).toBe(502)
  })
})

describe('a WebSocket of a server inside', () => {
  const path = { url: `${base}/ports/8081/chat`, headers: {} }
  const hostName = { url: '/chat', headers: { host: `8081-${web.id}.ports.test` } }

  /** What comes back: an answer of the server inside, or the status of a refusal. */
  async function chat({ url, headers }: typeof path, sent: Record<string, string>) {
    const socket = new WebSocket(`${home.url.replace('http', 'ws')}${url}`, {
      headers: { ...headers, ...sent },
    })
    const { promise, resolve } = Promise.withResolvers<string | number | undefined>()
    socket.on('open', () => socket.send('hello'))
    socket.on('message', (data) => resolve(String(data)))
    socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode))
    socket.on('error', () => {})
    socket.on('close', () => resolve('closed'))
    return await promise.finally(() => socket.terminate())
  }

  beforeAll(async () => {
    const command = ['python3', '-u', '-c', echoing]
    await call(`${base}/commands`, { command, mode: 'process', id: 'echoing' })
  })

  describe.each([
    ['path', path],
    ['host name', hostName],
  ])('by %s', (_, place) => {
    test.each(['authorization', 'x-api-key'])(
      'is reached with a token in %s, which it does not see',
      async (header) => {
        const value = header === 'authorization' ? `Bearer ${token}` : token
        // It may not listen yet.
        await expect.poll(() => chat(place, { [header]: value })).toBe('GET /chat None hello')
      },
    )

    test('is refused without a token, and with one that may not use it', async () => {
      const sent = async (options: TokenOptions) => ({
        authorization: `Bearer ${await home.token(options)}`,
      })
      expect(await chat(place, {})).toBe(401)
      expect(await chat(place, { authorization: 'Bearer wrong' })).toBe(401)
      expect(await chat(place, await sent({ scope: 'read' }))).toBe(403)
      expect(await chat(place, await sent({ scope: 'exec', labels: { tenant: 'b' } }))).toBe(404)
    })
  })
})

describe('events and observation', () => {
  test('events are followed from an id', async () => {
    const stop = new AbortController()
    const events = await home.fetch('/v1/events?after=0', {
      token,
      headers: { accept: 'application/x-ndjson' },
      signal: stop.signal,
    })
    const { value } = (await events.body?.getReader().read()) ?? {}
    expect(linesOf(new TextDecoder().decode(value)).at(0)).toMatchObject({ id: 1, kind: 'create' })
    stop.abort()
  })

  test('the API reference has every route, and no other', async () => {
    const { paths } = (await (await home.fetch('/openapi.json')).json()) as {
      paths: Record<string, Record<string, { description: string }>>
    }
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { description }]) =>
          `${method.toUpperCase()} ${path} ${description.replace('needs the scope ', '')}`,
      ),
    )
    const page = readFileSync(new URL('../../docs/api-reference.md', import.meta.url), 'utf8')
    const rows = page.matchAll(/^\| ([A-Z]+) \| `(\S+)` \| `\S+` \| (\w+) \|/gm)
    expect(Array.from(rows, ([, ...cells]) => cells.join(' ')).sort()).toEqual(routes.sort())
  })

  test('health, readiness, metrics, documentation', async () => {
    expect((await home.fetch('/healthz')).status).toBe(200)
    expect((await home.fetch('/readyz')).status).toBe(200)
    expect(await (await home.fetch('/docs')).text()).not.toMatch(/(src|href)="http/)
    const metrics = await (await home.fetch('/metrics', { token })).text()
    expect(metrics).toContain('forkpoint_environments{status="running"} 1')
    expect(metrics).toMatch(/forkpoint_operation_seconds_count\{operation="exec",status="200"\} \d/)
    expect(metrics).toContain('nodejs_eventloop_lag_seconds')
    expect(metrics).toMatch(/forkpoint_snapshot_pause_seconds_count [1-9]/)
    expect(metrics).toMatch(/forkpoint_bytes\{of="shared"\} \d/)
    expect(metrics).toContain('forkpoint_operations_waiting 0')
    // Two forks and a restore, each from a spare or not.
    for (const [kind, made] of [
      ['fork', 2],
      ['restore', 1],
    ] as const) {
      const counts = metrics.matchAll(new RegExp(`spares_total{kind="${kind}",.*} (\\d+)`, 'g'))
      const total = Array.from(counts, ([, count]) => Number(count)).reduce((a, b) => a + b, 0)
      expect(total, kind).toBeGreaterThanOrEqual(made)
    }
  })
})

/** Answers with what it got, as JSON. */
const server = `
import http.server, json
class H(http.server.BaseHTTPRequestHandler):
    def answer(self):
        body = self.rfile.read(int(self.headers.get('content-length') or 0)).decode()
        got = {'method': self.command, 'path': self.path, 'body': body,
               'authorization': self.headers.get('authorization')}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(got).encode())
    do_GET = do_POST = answer
http.server.HTTPServer(('127.0.0.1', 8080), H).serve_forever()
`

/** A WebSocket server for one message of up to 125 bytes, which it returns with what it was asked for. */
const echoing = `
import base64, hashlib, socket
listener = socket.create_server(('127.0.0.1', 8081))
while True:
    client, _ = listener.accept()
    lines = client.recv(65536).decode().split('\\r\\n')
    headers = dict(l.lower().split(': ', 1) for l in lines[1:] if ': ' in l)
    key = next(l.split(': ', 1)[1] for l in lines if l.lower().startswith('sec-websocket-key'))
    digest = hashlib.sha1((key + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').encode()).digest()
    client.send(b'HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n'
        b'Sec-WebSocket-Accept: ' + base64.b64encode(digest) + b'\\r\\n\\r\\n')
    frame = client.recv(65536)
    size, mask = frame[1] & 127, frame[2:6]
    text = bytes(b ^ mask[i % 4] for i, b in enumerate(frame[6:6 + size])).decode()
    answer = f"{lines[0].rsplit(' ', 1)[0]} {headers.get('authorization')} {text}".encode()
    client.send(bytes([129, len(answer)]) + answer)
    client.close()
`

/** fetch does not let its user choose the host name. */
async function rawGet(host: string, port: number, name: string, path: string): Promise<string> {
  const { createConnection } = await import('node:net')
  const socket = createConnection({ host, port })
  const head = [`GET ${path} HTTP/1.1`, `Host: ${name}`, `Authorization: Bearer ${token}`]
  socket.write(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n`)
  let text = ''
  for await (const chunk of socket) text += chunk
  return text
}
