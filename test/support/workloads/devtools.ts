import type { Environment } from '../../../src/index.ts'

interface Target {
  readonly type: string
  readonly webSocketDebuggerUrl: string
}

/** The pages that are open in a Chromium inside; none while it is starting. */
export async function pages(env: Environment, port: number): Promise<Target[]> {
  await using forward = await env.ports.forward(port)
  return await listPages(forward.port).catch(() => [])
}

async function listPages(port: number): Promise<Target[]> {
  const response = await fetch(`http://127.0.0.1:${port}/json/list`, {
    headers: { connection: 'close' },
  })
  const targets = (await response.json()) as Target[]
  return targets.filter(({ type }) => type === 'page')
}

/** The value of a JavaScript expression in the first page, as text. */
export async function evaluate(
  env: Environment,
  port: number,
  expression: string,
): Promise<string> {
  await using forward = await env.ports.forward(port)
  const [page] = await listPages(forward.port)
  const url = new URL(page?.webSocketDebuggerUrl ?? 'ws://none')
  url.port = String(forward.port)
  return await call(url, expression)
}

async function call(url: URL, expression: string): Promise<string> {
  const socket = new WebSocket(url)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  socket.onopen = () =>
    socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }))
  socket.onmessage = ({ data }) => {
    const { result, error } = JSON.parse(String(data))
    if (error || result.exceptionDetails) reject(new Error(String(data)))
    else resolve(String(result.result.value))
  }
  socket.onerror = () => reject(new Error(`no connection to ${url}`))
  socket.onclose = () => reject(new Error('closed without an answer'))
  try {
    return await promise
  } finally {
    socket.close()
  }
}
