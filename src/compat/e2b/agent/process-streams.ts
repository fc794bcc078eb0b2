import type { FastifyReply } from 'fastify'
import type { CommandResult } from '../../../agent/commands/commands.ts'
import type { Environment } from '../../../api/handles/environment.ts'
import type { TerminalViewer } from '../../../api/handles/terminal-viewer.ts'
import { TimeoutError } from '../../../model/errors.ts'
import type { RpcStream } from './rpc.ts'

interface End {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

/** What a client of a command gets: where it runs, its output, and how it ended. */
export function commandReader(reply: FastifyReply, stream: RpcStream) {
  return {
    take: (name: 'stdout' | 'stderr', chunk: Buffer) =>
      stream.send({ event: { data: { [name]: chunk.toString('base64') } } }),
    signal: hungUp(reply),
  }
}

export async function sendStart(stream: RpcStream, pid: number): Promise<void> {
  await stream.send({ event: { start: { pid } } })
}

export async function sendEnd(stream: RpcStream, id: string, result: CommandResult): Promise<void> {
  requireInTime(id, result)
  await stream.send({ event: { end: endOf(result) } })
}

/** Aborts when the client is gone. */
function hungUp({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}

function requireInTime(id: string, { timedOut }: CommandResult): void {
  if (!timedOut) return
  throw new TimeoutError(`command ${id} took too long and was ended`, {
    remedy: 'give it a longer `timeoutMs`, or 0',
  })
}

/** The screen of a terminal, then what its program prints. */
export async function followTerminal(
  { raw }: FastifyReply,
  stream: RpcStream,
  viewer: TerminalViewer,
): Promise<void> {
  raw.once('close', () => viewer.detach())
  const { pid } = await viewer.opened()
  await stream.send({ event: { start: { pid } } })
  for await (const chunk of viewer.data()) {
    await stream.send({ event: { data: { pty: chunk.toString('base64') } } })
  }
  await stream.send({ event: { end: endOf(await viewer.exit) } })
}

/** In the words of Go, as the agent of E2B says it. */
function endOf({ exitCode, signal }: End): object {
  if (exitCode === 0) return { exitCode, exited: true, status: 'exit status 0' }
  if (exitCode !== null) {
    const status = `exit status ${exitCode}`
    return { exitCode, exited: true, status, error: status }
  }
  const status = `signal: ${words[signal ?? ''] ?? signal}`
  return { exitCode: -1, exited: false, status, error: status }
}

const words: Readonly<Record<string, string>> = {
  SIGKILL: 'killed',
  SIGTERM: 'terminated',
  SIGINT: 'interrupt',
  SIGHUP: 'hangup',
}

/** Variables that the sandbox itself could not be given when it was made from a snapshot. */
export function sandboxVariables(environment: Environment, label: string): Record<string, string> {
  const json = environment.lastInfo.labels[label]
  return json === undefined ? {} : JSON.parse(json)
}
