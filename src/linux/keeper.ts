import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { BackendError } from '../model/errors.ts'
import { nativeProgram } from './native-program.ts'

/**
 * The process that starts processes for this one: Node copies its own memory map each time and stands
 * still for milliseconds meanwhile. There is one of them, from the first use on; it ends with us.
 */

/** As in native/cell/keeper.c. */
const kinds = { run: 0, job: 1, prepare: 2, dismiss: 3, kill: 4 } as const
const mostBytes = 16 * 1024 ** 2

export interface Ended {
  /** null if it was ended by a signal */
  readonly exitCode: number | null
  readonly signal: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Keeper {
  readonly child: ChildProcessWithoutNullStreams
  readonly waiting: Map<number, PromiseWithResolvers<Ended>>
}

let current: Keeper | undefined
let lastId = 0

export interface KeptOptions {
  readonly input?: string | Buffer
  readonly signal?: AbortSignal | undefined
}

/** Runs a program to its end; the signal kills it. */
export async function keeperRun(
  words: readonly string[],
  { input = '', signal }: KeptOptions,
): Promise<Ended> {
  signal?.throwIfAborted()
  const ended = ask('run', words, typeof input === 'string' ? Buffer.from(input) : input)
  const id = lastId
  const kill = () => current && send(current, 'kill', id)
  signal?.addEventListener('abort', kill)
  try {
    return await ended
  } finally {
    signal?.removeEventListener('abort', kill)
  }
}

/** Has a worker do a job of CRIU's; ends with its answer. */
export function keeperJob(words: readonly string[], request: Uint8Array): Promise<Ended> {
  return ask('job', words, request)
}

/** Workers are started with these words, from now on; so many are wanted at once. */
export function keeperPrepare(words: readonly string[], count: number): void {
  send(keeper(), 'prepare', count, encoded(words))
}

/** Ends the workers that wait. */
export function keeperDismiss(): void {
  if (current) send(current, 'dismiss', 0)
}

async function ask(
  kind: 'run' | 'job',
  words: readonly string[],
  input: Uint8Array,
): Promise<Ended> {
  const args = encoded(words)
  requireShort(args)
  requireShort(input)
  const { child, waiting } = keeper()
  lastId = (lastId % 0xffffffff) + 1
  const answer = Promise.withResolvers<Ended>()
  waiting.set(lastId, answer)
  if (waiting.size === 1) hold(child, 'ref')
  send({ child, waiting }, kind, lastId, args, input)
  return answer.promise
}

/** The keeper would take a longer one for nonsense, and end, with everybody's programs. */
function requireShort({ length }: Uint8Array): void {
  if (length <= mostBytes) return
  throw new BackendError(`${length} bytes are too many for a program's arguments or its input`, {
    detail: { length, mostBytes },
  })
}

function encoded(words: readonly string[]): Buffer {
  return Buffer.from(words.map((word) => `${word}\0`).join(''))
}

const none = Buffer.alloc(0)

function send(
  { child }: Keeper,
  kind: keyof typeof kinds,
  id: number,
  args: Buffer = none,
  input: Uint8Array = none,
): void {
  const head = Buffer.alloc(16)
  for (const [index, number] of [id, kinds[kind], args.length, input.length].entries()) {
    head.writeUInt32LE(number, 4 * index)
  }
  child.stdin.write(Buffer.concat([head, args, input]))
}

function keeper(): Keeper {
  current ??= start()
  return current
}

function start(): Keeper {
  const child = spawn(nativeProgram('cell'), ['keeper'], { stdio: 'pipe' })
  const waiting: Keeper['waiting'] = new Map()
  let received: Buffer = Buffer.alloc(0)
  child.stdout.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    received = deliver(received, waiting)
    if (waiting.size === 0) hold(child, 'unref')
  })
  let words = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-1000)
  })
  const over = (why: string) => {
    if (current?.child === child) current = undefined
    const lastWords = words.trim() || why
    const error = new BackendError(`the helper that starts processes ended: ${lastWords}`, {
      remedy: 'try again; if it was killed once more, see `dmesg` for a lack of memory',
    })
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  child.once('close', (code, signal) => over(signal ? `killed by ${signal}` : `exit code ${code}`))
  child.once('error', (error) => over(error.message))
  child.stdin.on('error', () => {})
  hold(child, 'unref')
  return { child, waiting }
}

/** Hands out the whole answers in these bytes; what is left is the beginning of the next. */
function deliver(bytes: Buffer, waiting: Keeper['waiting']): Buffer {
  let rest = bytes
  while (rest.length >= 16) {
    const [outLength, errLength] = [rest.readUInt32LE(8), rest.readUInt32LE(12)]
    const end = 16 + outLength + errLength
    if (rest.length < end) break
    const status = rest.readInt32LE(4)
    const id = rest.readUInt32LE(0)
    waiting.get(id)?.resolve({
      exitCode: status < 0 ? null : status,
      signal: status < 0 ? -status : null,
      stdout: rest.toString('utf8', 16, 16 + outLength),
      stderr: rest.toString('utf8', 16 + outLength, end),
    })
    waiting.delete(id)
    rest = rest.subarray(end)
  }
  return rest
}

/** While nothing is waited for, it must not keep this process alive. */
function hold(child: ChildProcessWithoutNullStreams, how: 'ref' | 'unref'): void {
  child[how]()
  for (const stream of child.stdio) (stream as unknown as Record<typeof how, () => void>)[how]()
}
