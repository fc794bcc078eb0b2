import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import { text as readText } from 'node:stream/consumers'
import type * as z from 'zod/mini'
import { type Address, describeAddress } from './address.ts'
import type { EngineKind } from './engine-kind.ts'
import { EngineRefusal, unreachable } from './failures.ts'

type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>

export interface Call {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  /** with its parts encoded by `path` */
  readonly path: string
  readonly query?: Query
  /** an object is sent as JSON, bytes and streams as a tar archive */
  readonly body?: object | Buffer | Readable
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
}

/** Speaks Docker's REST API with one engine. */
export interface Client {
  readonly kind: EngineKind
  /** for messages */
  readonly where: string
  /** waits for the whole answer; throws `EngineRefusal` if it is an error */
  text(call: Call): Promise<string>
  json<T>(schema: Schema<T>, call: Call): Promise<T>
  /** the answer as it arrives */
  stream(call: Call): Promise<IncomingMessage>
  /** a raw connection, after the engine has agreed to switch to one */
  upgrade(call: Call): Promise<Duplex>
}

type Schema<T> = z.ZodMiniType<T>

/** A path whose parts cannot be mistaken for something else. */
export function path(strings: TemplateStringsArray, ...parts: readonly string[]): string {
  return String.raw({ raw: strings }, ...parts.map(encodeURIComponent))
}

export function openClient(kind: EngineKind, address: Address): Client {
  const stream = async (call: Call) => {
    try {
      return await answered(kind, address, call)
    } catch (error) {
      // Whoever writes to it would wait forever for it to be read.
      if (call.body !== undefined && 'destroy' in call.body) call.body.destroy()
      throw error
    }
  }
  const text = async (call: Call) => await readText(await stream(call))
  return {
    kind,
    where: describeAddress(address),
    text,
    json: async (schema, call) => schema.parse(JSON.parse(await text(call))),
    stream,
    upgrade: (call) => upgraded(kind, address, call),
  }
}

async function answered(kind: EngineKind, address: Address, call: Call): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const sent = request(optionsOf(address, call), resolve)
  sent.on('error', (error) => reject(failureOf(kind, address, call, error)))
  if (call.timeoutMs !== undefined) {
    sent.setTimeout(call.timeoutMs, () => sent.destroy(new Error('it does not answer')))
  }
  send(sent, call.body)
  const response = await promise
  await requireSuccess(kind, call, response)
  return response
}

async function upgraded(kind: EngineKind, address: Address, call: Call): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>()
  const options = optionsOf(address, call)
  const headers = { ...options.headers, Connection: 'Upgrade', Upgrade: 'tcp' }
  const sent = request({ ...options, headers })
  sent.on('error', (error) => reject(failureOf(kind, address, call, error)))
  sent.on('upgrade', (_response, socket, first) => {
    if (first.length > 0) socket.unshift(first)
    resolve(socket)
  })
  sent.on('response', (response) => {
    requireSuccess(kind, call, response).then(
      () => reject(new EngineRefusal(kind, describe(call), 200, 'it did not switch protocols')),
      reject,
    )
  })
  send(sent, call.body)
  return await promise
}

async function requireSuccess(
  kind: EngineKind,
  call: Call,
  response: IncomingMessage,
): Promise<void> {
  const { statusCode = 0 } = response
  if (statusCode >= 200 && statusCode < 300) return
  throw new EngineRefusal(kind, describe(call), statusCode, await readText(response))
}

function optionsOf(address: Address, { method, path, query = {}, body, signal }: Call) {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value ?? []].flat()) search.append(name, String(each))
  }
  const isArchive = Buffer.isBuffer(body) || (body !== undefined && 'pipe' in body)
  const options: RequestOptions = {
    ...address,
    method,
    // Without a version it is the engine's own: recent ones refuse old versions, and old ones recent ones.
    path: `${path}?${search}`,
    agent: false,
    headers: {
      Host: 'engine',
      ...(body !== undefined && {
        'Content-Type': isArchive ? 'application/x-tar' : 'application/json',
      }),
    },
    ...(signal && { signal }),
  }
  return options
}

function send(sent: ReturnType<typeof request>, body: Call['body']): void {
  if (body === undefined) sent.end()
  else if (Buffer.isBuffer(body)) sent.end(body)
  else if (isStream(body)) {
    body.on('error', (error) => sent.destroy(error))
    body.pipe(sent)
  } else sent.end(JSON.stringify(body))
}

function isStream(body: object): body is Readable {
  return 'pipe' in body
}

function failureOf(kind: EngineKind, address: Address, call: Call, error: Error): Error {
  return call.signal?.aborted ? error : unreachable(kind, address, error)
}

function describe({ method, path }: Call): string {
  return `${method} ${decodeURIComponent(path)}`
}
