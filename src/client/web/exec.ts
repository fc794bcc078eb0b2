import * as z from 'zod/mini'
import { errorData } from '../../api/contract/data/data.ts'
import { filledPath, insidePath, insidePaths } from '../../api/contract/routes.ts'
import type { ExecOptions, ExecResult } from '../../api/handles/exec-options.ts'
import { ConnectionError, errorFromJson } from '../../model/errors.ts'
import { parsedAnswer } from '../link/answer.ts'
import { withQuery } from '../link/sent.ts'
import type { Fetcher, WebSent } from './fetcher.ts'
import { jsonLines } from './json-lines.ts'
import { newKey } from './new-key.ts'

export type CommandWords = string | readonly string[]

export type WebExecOptions = Pick<
  ExecOptions,
  'mode' | 'shell' | 'cwd' | 'env' | 'user' | 'timeoutMs'
> & {
  readonly stdin?: string
  /** stops waiting; the command continues, until `timeoutMs` if it has one */
  readonly signal?: AbortSignal
}

/** How a command ended. */
export type CommandEnd = Omit<ExecResult, 'stdout' | 'stderr' | 'raw'>

export type WebExecResult = CommandEnd & Pick<ExecResult, 'stdout' | 'stderr'>

/** Output of a command, or its end, which comes last. */
export type CommandPart =
  | { readonly type: 'stdout' | 'stderr'; readonly data: Uint8Array<ArrayBuffer> }
  | ({ readonly type: 'exit' } & CommandEnd)

const end = {
  exitCode: z.nullable(z.number()),
  signal: z.nullable(z.custom<NodeJS.Signals>((given) => typeof given === 'string')),
  timedOut: z.boolean(),
  shellGone: z.boolean(),
  durationMs: z.number(),
}

const result = z.object({ ...end, stdout: z.string(), stderr: z.string() })

const line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start'), id: z.string() }),
  z.object({ type: z.enum(['stdout', 'stderr']), data: z.string(), offset: z.number() }),
  z.object({ type: z.literal('exit'), ...end }),
  z.object({ type: z.literal('error'), error: errorData }),
])

/** Before a lost stream is asked for again. */
const pauseMs = 100

/** Runs a command to its end. It runs once, even if the request has to be sent again. */
export async function exec(
  fetcher: Fetcher,
  id: string,
  command: CommandWords,
  { signal, ...options }: WebExecOptions,
): Promise<WebExecResult> {
  const sent = startRequest(id, { command, ...options }, { signal, accept: 'application/json' })
  const answer: unknown = await fetcher.send(sent, (response) => response.json())
  return parsedAnswer(result, answer, { where: fetcher.where, name: 'exec' })
}

/** The same, with the output as it comes. After a lost connection it continues where it was. */
export async function* execStream(
  fetcher: Fetcher,
  id: string,
  command: CommandWords,
  { signal, ...options }: Omit<WebExecOptions, 'stdin'>,
): AsyncGenerator<CommandPart, void, undefined> {
  const form = { signal, accept: 'application/x-ndjson' }
  const start = startRequest(id, { command, ...options, encoding: 'base64' }, form)
  const offsets = { stdout: 0, stderr: 0 }
  let started: string | null = null
  for (;;) {
    const sent: WebSent = started === null ? start : outputRequest(id, started, offsets, form)
    const body = await fetcher.send(sent, async (answer) => answer.body)
    for await (const document of jsonLines(body)) {
      const next = parsedAnswer(line, document, { where: fetcher.where, name: 'exec' })
      if (next.type === 'error') throw errorFromJson(next.error)
      if (next.type === 'start') {
        started = next.id
        continue
      }
      if (next.type === 'exit') return yield next
      const data = fromBase64(next.data)
      if (next.offset - data.length !== offsets[next.type]) throw gap(started, next.type)
      offsets[next.type] = next.offset
      yield { type: next.type, data }
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

interface Form {
  readonly accept: string
  readonly signal: AbortSignal | undefined
}

function startRequest(id: string, input: object, { accept, signal }: Form): WebSent {
  const path = filledPath(insidePath(insidePaths.exec), () => id)
  const headers = { accept, 'idempotency-key': newKey() }
  return { method: 'POST', path, body: JSON.stringify(input), headers, signal }
}

function outputRequest(
  id: string,
  command: string,
  offsets: Readonly<Record<'stdout' | 'stderr', number>>,
  { accept, signal }: Form,
): WebSent {
  const template = insidePath(insidePaths.output)
  const path = filledPath(template, (field) => (field === 'id' ? id : command))
  const query = { ...offsets, encoding: 'base64' }
  return { method: 'GET', path: withQuery(path, query), headers: { accept }, signal }
}

function gap(command: string | null, name: string): ConnectionError {
  return new ConnectionError(`some ${name} of command ${command} was lost`, {
    happened: 'maybe',
    remedy: 'write output to a file if its reader may be away for long',
  })
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
