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
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
}

/**
 * The documents that a daemon answers with, one a line. HTTP 1.0: the answer ends with the connection, so
 * this needs no client for HTTP, which would take longer to load than the rest of the command.
 */
export async function* ask(path: string, asked: Asked): AsyncGenerator<unknown, void, undefined> {
  const socket = createConnection({ path })
  const { body = '' } = asked
  const head = [
    `${asked.method} ${asked.path} HTTP/1.0`,
    'host: localhost',
    'accept: application/x-ndjson',
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  const decoder = new StringDecoder('utf8')
  let text = ''
  let inBody = false
  let isRefused = false
  for await (const chunk of socket) {
    text += decoder.write(chunk)
    if (!inBody) {
      const end = text.indexOf('\r\n\r\n')
      if (end === -1) continue
      isRefused = !/^HTTP\/1\.\d 20\d /.test(text)
      text = text.slice(end + 4)
      inBody = true
    }
    if (isRefused) continue
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield JSON.parse(line)
  }
  if (isRefused) throw new Refused(JSON.parse(text).error)
}
