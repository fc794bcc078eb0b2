import type { ErrorJson } from '../../model/errors.ts'
import { type Ended, exitCodeOfCommand } from '../exec/exit-code.ts'
import { abortWaitMs, graceMs } from '../exec/interrupted.ts'
import { stdinIsGiven } from '../exec/stdin.ts'
import { signalExitCode } from '../interrupts.ts'
import { isClosedPipe, write } from '../write-bytes.ts'
import { type Asked, ask, Refused } from './ask.ts'
import type { Ending } from './ending.ts'
import { plainSocket } from './plain-socket.ts'

/**
 * The plainest form of `exec`, through the daemon of the home: one request and nothing loaded for it. Null
 * if anything is out of the ordinary; then nothing has happened, and the whole command line takes over.
 */
export async function quickExec(argv: readonly string[]): Promise<Ending | null> {
  const [verb, reference, dashes, ...words] = withoutStdinFlag(argv)
  const isPlain = verb === 'exec' && dashes === '--' && words.length > 0
  if (!isPlain || reference === undefined || reference.startsWith('-')) return null
  const socket = plainSocket()
  const leavesStdin = argv[1] === '-n' || argv[1] === '--no-stdin'
  if (socket === null || (!leavesStdin && stdinIsGiven())) return null
  const command = words.length === 1 ? words[0] : words
  const commands = `/v1/environments/${encodeURIComponent(reference)}`
  const body = { command, encoding: 'base64', waits: true }
  return await followed({ socket, base: commands, reference }, body)
}

/** `-n` first is common in loops, which should stay fast. */
function withoutStdinFlag(argv: readonly string[]): readonly string[] {
  const [verb = '', flag, ...rest] = argv
  return flag === '-n' || flag === '--no-stdin' ? [verb, ...rest] : argv
}

/** Where the environment is, and what the user calls it. */
interface Place {
  readonly socket: string
  readonly base: string
  readonly reference: string
}

interface Followed {
  id: string | null
  /** the signal that this process got */
  interrupted: NodeJS.Signals | null
  readonly offsets: { stdout: number; stderr: number }
}

/** A line of a streamed exec. */
type Line =
  | { readonly type: 'start'; readonly id: string }
  | { readonly type: 'wait'; readonly id: string; readonly command: string }
  | { readonly type: 'stdout' | 'stderr'; readonly data: string; readonly offset: number }
  | ({ readonly type: 'exit'; readonly shellGone: boolean } & Ended)
  | { readonly type: 'error'; readonly error: ErrorJson }

/** How long a daemon that was killed may take to come back. */
const patienceMs = 30_000
const pauseMs = 50

/** Follows the command to its end, over as many daemons as it takes. */
async function followed(place: Place, body: object): Promise<Ending | null> {
  const { socket, base } = place
  const state: Followed = { id: null, interrupted: null, offsets: { stdout: 0, stderr: 0 } }
  using _interrupts = interrupting(place, state)
  let deadline = Number.POSITIVE_INFINITY
  for (;;) {
    const asked: Asked =
      state.id === null
        ? { method: 'POST', path: `${base}/exec`, body: JSON.stringify(body) }
        : { method: 'GET', path: `${base}/commands/${state.id}/output?${query(state)}` }
    try {
      for await (const line of ask(socket, asked)) {
        deadline = Number.POSITIVE_INFINITY
        const end = await shown(line as Line, place, state)
        if (end !== null) return end
      }
    } catch (error) {
      if (isClosedPipe(error)) return signalExitCode('SIGPIPE')
      if (state.id === null) return null
      if (error instanceof Refused) return error.error
    }
    // The answer ended before the command did: the daemon is gone, but the command runs on.
    if (state.id === null) return null
    if (deadline === Number.POSITIVE_INFINITY) deadline = performance.now() + patienceMs
    if (performance.now() > deadline) return daemonGone(state.id)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

function daemonGone(id: string): ErrorJson {
  return {
    code: 'connection',
    message: `the daemon is gone; the command ${id} may still be running`,
    remedy: `start it again, and continue with \`forkpoint logs ENV ${id} -f\``,
  }
}

function query({ offsets }: Followed): string {
  return `stdout=${offsets.stdout}&stderr=${offsets.stderr}&encoding=base64`
}

/** Prints a line; the exit code if it is the last one. */
async function shown(line: Line, { reference }: Place, state: Followed): Promise<number | null> {
  switch (line.type) {
    case 'start':
      state.id = line.id
      return null
    case 'stdout':
    case 'stderr':
      await write(process[line.type], Buffer.from(line.data, 'base64'))
      state.offsets[line.type] = line.offset
      return null
    case 'wait':
      await write(process.stderr, (await remarks()).waitsFor(reference, line))
      return null
    case 'exit':
      if (state.interrupted !== null) return signalExitCode(state.interrupted)
      if (line.shellGone && !line.timedOut)
        await write(process.stderr, (await remarks()).shellEnded)
      return exitCodeOfCommand(line)
    case 'error':
      throw new Refused(line.error)
  }
}

/** Rarely needed, and it takes a while to load. */
const remarks = () => import('../exec/remarks.ts')

/**
 * The first signal ends the command as its terminal would, and its last output still arrives. A command that
 * takes longer is left to the agent, which kills it.
 */
function interrupting(place: Place, state: Followed): Disposable {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const handlers = signals.map((signal) => ({
    signal,
    handle: () => {
      state.interrupted = signal
      interrupt(place, state)
      setTimeout(() => void leave(place, state, signal), abortWaitMs).unref()
    },
  }))
  for (const { signal, handle } of handlers) process.once(signal, handle)
  return {
    [Symbol.dispose]: () => {
      for (const { signal, handle } of handlers) process.off(signal, handle)
    },
  }
}

function interrupt({ socket, base }: Place, { id }: Followed): void {
  if (id === null) return
  const path = `${base}/commands/${id}/signal`
  const body = JSON.stringify({ signal: 'SIGINT', graceMs })
  // If it cannot be sent, this process ends all the same, and says so.
  ask(socket, { method: 'POST', path, body })
    .next()
    .catch(() => {})
}

async function leave(
  { reference }: Place,
  { id }: Followed,
  signal: NodeJS.Signals,
): Promise<void> {
  const { leftBehind, notBegun } = await remarks()
  const text = id === null ? notBegun(reference) : leftBehind(reference, id)
  await write(process.stderr, text).catch(() => {})
  process.exit(signalExitCode(signal))
}
