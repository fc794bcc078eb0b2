import type { ErrorJson } from '../../model/errors.ts'
import { exitCodeOfCommand } from '../exec/exit-code.ts'
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
  const [verb, reference, dashes, ...words] = argv
  const isPlain = verb === 'exec' && dashes === '--' && words.length > 0
  if (!isPlain || reference === undefined || reference.startsWith('-')) return null
  const socket = plainSocket()
  if (socket === null || stdinIsGiven()) return null
  const command = words.length === 1 ? words[0] : words
  const commands = `/v1/environments/${encodeURIComponent(reference)}`
  return await followed(socket, commands, { command, encoding: 'base64' })
}

interface Followed {
  id: string | null
  readonly offsets: { stdout: number; stderr: number }
}

/** A line of a streamed exec. */
type Line =
  | { readonly type: 'start'; readonly id: string }
  | { readonly type: 'stdout' | 'stderr'; readonly data: string; readonly offset: number }
  | ({ readonly type: 'exit' } & Parameters<typeof exitCodeOfCommand>[0])
  | { readonly type: 'error'; readonly error: ErrorJson }

/** How long a daemon that was killed may take to come back. */
const patienceMs = 30_000
const pauseMs = 50

/** Follows the command to its end, over as many daemons as it takes. */
async function followed(socket: string, base: string, body: object): Promise<Ending | null> {
  const state: Followed = { id: null, offsets: { stdout: 0, stderr: 0 } }
  using _interrupts = interrupting(socket, base, state)
  let deadline = Number.POSITIVE_INFINITY
  for (;;) {
    const asked: Asked =
      state.id === null
        ? { method: 'POST', path: `${base}/exec`, body: JSON.stringify(body) }
        : { method: 'GET', path: `${base}/commands/${state.id}/output?${query(state)}` }
    try {
      for await (const line of ask(socket, asked)) {
        deadline = Number.POSITIVE_INFINITY
        const end = await shown(line as Line, state)
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
    remedy: `start it again, and continue with \`forkpoint exec ENV --attach ${id}\``,
  }
}

function query({ offsets }: Followed): string {
  return `stdout=${offsets.stdout}&stderr=${offsets.stderr}&encoding=base64`
}

/** Prints a line; the exit code if it is the last one. */
async function shown(line: Line, state: Followed): Promise<number | null> {
  switch (line.type) {
    case 'start':
      state.id = line.id
      return null
    case 'stdout':
    case 'stderr':
      await write(process[line.type], Buffer.from(line.data, 'base64'))
      state.offsets[line.type] = line.offset
      return null
    case 'exit':
      return exitCodeOfCommand(line)
    case 'error':
      throw new Refused(line.error)
  }
}

const graceMs = 2000

/** The first signal ends the command as its terminal would, the second or a delay kills it. */
function interrupting(socket: string, base: string, state: Followed): Disposable {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const send = (signal: string) => {
    if (state.id === null) return
    const path = `${base}/commands/${state.id}/signal`
    const sent = ask(socket, { method: 'POST', path, body: JSON.stringify({ signal }) })
    // If it cannot be sent, this process ends all the same.
    sent.next().catch(() => {})
  }
  const handlers = signals.map((signal) => ({
    signal,
    handle: () => {
      send('SIGINT')
      setTimeout(() => send('SIGKILL'), graceMs).unref()
      const end = () => process.exit(signalExitCode(signal))
      process.once('beforeExit', end)
      setTimeout(end, 2 * graceMs).unref()
    },
  }))
  for (const { signal, handle } of handlers) process.once(signal, handle)
  return {
    [Symbol.dispose]: () => {
      for (const { signal, handle } of handlers) process.off(signal, handle)
    },
  }
}
