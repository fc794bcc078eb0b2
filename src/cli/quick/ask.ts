import { createConnection } from 'node:net'
import { StringDecoder } from 'node:string_decoder'
import type { ErrorJson } from '../../model/errors.ts'

/** The daemon answered with an error. */
export class Refused extends Error {
  readonly error: ErrorJson

  constructor(error: ErrorJson) {
    super(error.message)
    this.error = error
  }
}

export interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The documents that a daemon answers with, one a line. */
export async function* ask(path: string, asked: Asked): AsyncGenerator<unknown, void, undefined> {
  const headers = { accept: 'application/x-ndjson' }
  let rest = ''
  for await (const text of bodyOf(path, { ...asked, headers })) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield JSON.parse(line)
  }
}

/** The one document that a daemon answers with; null if it answers without one. */
export async function askOnce(path: string, asked: Asked): Promise<unknown> {
  let body = ''
  for await (const text of bodyOf(path, asked)) body += text
  return body === '' ? null : JSON.parse(body)
}

/**
 * The body of an answer as it comes. HTTP 1.0: the answer ends with the connection, so this needs no client
 * for HTTP, which would take longer to load than the rest of the command.
 */
async function* bodyOf(path: string, asked: Asked): AsyncGenerator<string, void, undefined> {
  const socket = createConnection({ path })
  socket.write(requestOf(asked))
  const decoder = new StringDecoder('utf8')
  let text = ''
  let head: string | undefined
  for await (const chunk of socket) {
    text += decoder.write(chunk)
    if (head === undefined) {
      const end = text.indexOf('\r\n\r\n')
      if (end === -1) continue
      head = text.slice(0, end)
      text = text.slice(end + 4)
    }
    if (!isSuccess(head) || text === '') continue
    yield text
    text = ''
  }
  if (head === undefined) throw new Error('the connection was lost')
  if (!isSuccess(head)) throw new Refused(JSON.parse(text).error)
}

function requestOf({ method, path, headers = {}, body = '' }: Asked): string {
  const lines = [
    `${method} ${path} HTTP/1.0`,
    'host: localhost',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

function isSuccess(head: string): boolean {
  return /^HTTP\/1\.\d 20\d /.test(head)
}
