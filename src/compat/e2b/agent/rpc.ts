import { once } from 'node:events'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInputError } from '../../../model/errors.ts'
import { jsonOf } from '../bodies.ts'
import { type Failure, failureOf, goneStatus, statusOf } from '../failures.ts'

// The Connect protocol with JSON. A unary call is one document each way. In a stream, each document comes
// after five bytes: a flag, and its length as a big-endian number. The last one has the flag 2 and says
// whether the call failed.

const prefixBytes = 5
const endFlag = 2

/** The one message that a client sends at the beginning of a stream. */
export function framedMessage(body: unknown): unknown {
  if (!Buffer.isBuffer(body) || body.length < prefixBytes) throw malformed('it has no frame')
  const length = body.readUInt32BE(1)
  if (body[0] !== 0) throw malformed(`a frame has the flag ${body[0]}, which is not supported`)
  if (length !== body.length - prefixBytes) throw malformed(`a frame says it has ${length} bytes`)
  return jsonOf(body.subarray(prefixBytes))
}

function malformed(why: string): InvalidInputError {
  return new InvalidInputError(`the message is malformed: ${why}`, {
    remedy: 'send one message of the Connect protocol, as JSON and not compressed',
  })
}

/** Documents to a client, at the pace at which it takes them. */
export interface RpcStream {
  send(document: object): Promise<void>
}

/**
 * Answers with a stream of documents. `work` sends them, and a failure of it is the last one. While it is
 * silent, the client hears `beat` as often as it asked for.
 */
export async function answerStream(
  request: FastifyRequest,
  reply: FastifyReply,
  beat: object,
  work: (stream: RpcStream) => Promise<void>,
): Promise<FastifyReply> {
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, { 'content-type': 'application/connect+json', 'x-request-id': request.id })
  raw.flushHeaders()
  const { growing } = request.server
  growing.add(raw)
  const put = async (flag: number, document: object) => {
    if (raw.destroyed || raw.write(framed(flag, document))) return
    await Promise.race([once(raw, 'drain'), once(raw, 'close')])
  }
  const timer = setInterval(() => void put(0, beat), beatMs(request)).unref()
  raw.once('close', () => {
    growing.delete(raw)
    clearInterval(timer)
  })
  try {
    await work({ send: (document) => put(0, document) })
    await put(endFlag, {})
  } catch (error) {
    await put(endFlag, { error: errorJson(failureOf(error)) })
  } finally {
    clearInterval(timer)
    raw.end()
  }
  return reply
}

function framed(flag: number, document: object): Buffer {
  const json = Buffer.from(JSON.stringify(document))
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt8(flag)
  prefix.writeUInt32BE(json.length, 1)
  return Buffer.concat([prefix, json])
}

const defaultBeatSeconds = 90
const leastBeatSeconds = 1

function beatMs({ headers }: FastifyRequest): number {
  const asked = Number(headers['keepalive-ping-interval'])
  const seconds = asked >= leastBeatSeconds ? Math.min(asked, defaultBeatSeconds) : undefined
  return (seconds ?? defaultBeatSeconds) * 1000
}

/** How long the client gives the call; undefined: as long as it takes. */
export function deadlineMs({ headers }: FastifyRequest): number | undefined {
  const asked = Number(headers['connect-timeout-ms'])
  return Number.isSafeInteger(asked) && asked > 0 ? asked : undefined
}

export function errorJson({ rpc, message }: Failure): object {
  return { code: rpc, message }
}

/** The status of a unary call, or of a stream that could not begin. */
export function rpcStatus({ status, rpc }: Failure): number {
  return status === goneStatus ? goneStatus : statusOf(rpc)
}
