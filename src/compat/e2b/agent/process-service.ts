import { randomBytes } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type { Environment } from '../../../api/handles/environment.ts'
import { parsed } from '../bodies.ts'
import { ownLabels } from '../owned.ts'
import type { Followers } from './followers.ts'
import type { InsideProcess, KnownProcesses, Selector } from './known-processes.ts'
import * as m from './messages.ts'
import {
  commandReader,
  followTerminal,
  sandboxVariables,
  sendEnd,
  sendStart,
} from './process-streams.ts'
import { answerStream, deadlineMs, type RpcStream } from './rpc.ts'
import type { Call, StreamCall, Unary } from './service.ts'
import { pathInside, userOf } from './users.ts'

/** The service `process.Process`. */
export function processService(
  known: KnownProcesses,
  followers: Followers,
): {
  readonly unary: Readonly<Record<string, Unary>>
  readonly streams: Readonly<Record<string, StreamCall>>
} {
  const found = (environment: Environment, selector: Selector) => known.find(environment, selector)
  return {
    streams: {
      Start: (call) => answer(call, (stream) => start(known, followers, call, stream)),
      Connect: (call) =>
        answer(call, async (stream) => {
          const { process } = parsed(m.processRequest, call.message)
          const { environment, reply } = call
          const target = await found(environment, process)
          await follow(followers, environment, reply, stream, target)
        }),
    },
    unary: {
      List: async ({ environment }) => {
        const all = await known.list(environment)
        return { processes: all.map(processInfo) }
      },
      SendInput: async ({ environment, message }) => {
        const { process, input } = parsed(m.inputRequest, message)
        const data = Buffer.from('pty' in input ? input.pty : input.stdin, 'base64')
        const target = await found(environment, process)
        if (target.kind === 'terminal') await environment.terminal(target.name).write(data)
        else await followers.with(environment, target.id, (command) => command.writeStdin(data))
        return {}
      },
      CloseStdin: async ({ environment, message }) => {
        const { process } = parsed(m.processRequest, message)
        const target = await found(environment, process)
        // A program on a terminal has no stdin to close.
        if (target.kind === 'command') {
          await followers.with(environment, target.id, (command) => command.endStdin())
        }
        return {}
      },
      SendSignal: async ({ environment, message }) => {
        const { process, signal } = parsed(m.signalRequest, message)
        const name = signal === 'SIGNAL_SIGKILL' || signal === 9 ? 'SIGKILL' : 'SIGTERM'
        const target = await found(environment, process)
        if (target.kind === 'terminal') await environment.terminal(target.name).close()
        else await followers.with(environment, target.id, (command) => command.signal(name))
        return {}
      },
      Update: async ({ environment, message }) => {
        const { process, pty } = parsed(m.updateRequest, message)
        const target = await found(environment, process)
        if (target.kind === 'terminal' && pty !== undefined) {
          await environment.terminal(target.name).resize(pty.size)
        }
        return {}
      },
    },
  }
}

function answer(
  { request, reply }: Call & { readonly reply: FastifyReply },
  work: (stream: RpcStream) => Promise<void>,
): Promise<FastifyReply> {
  return answerStream(request, reply, { event: { keepalive: {} } }, work)
}

async function start(
  known: KnownProcesses,
  followers: Followers,
  call: Call & { readonly reply: FastifyReply },
  stream: RpcStream,
): Promise<void> {
  const { environment, request, reply } = call
  const { process, pty, tag, stdin } = parsed(m.startRequest, call.message)
  const user = userOf(request)
  const cwd = await pathInside(environment, process.cwd ?? '', user)
  const env = { ...sandboxVariables(environment, ownLabels.envs), ...process.envs }
  const common = { cwd, env, ...(user !== undefined && { user }) }
  const argv = [process.cmd, ...(process.args ?? [])]
  const id = `e2b-${randomBytes(9).toString('base64url')}`
  const { cmd, args = [], envs = {} } = process
  known.remember(id, { cmd, args, envs, cwd: process.cwd, tag })
  if (pty !== undefined) {
    const viewer = await environment.terminal(id).attach({ ...common, argv, ...pty.size })
    return await followTerminal(reply, stream, viewer)
  }
  const timeoutMs = deadlineMs(request)
  const command = await environment.spawn(argv, {
    ...common,
    id,
    mode: 'process',
    // Older clients do not say, and mean that they may write to it.
    stdin: stdin === false ? 'none' : 'streamed',
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
  await sendStart(stream, await command.pid)
  const reader = commandReader(reply, stream)
  await sendEnd(stream, id, await followers.started(environment, command, reader))
}

/** From the beginning of what the agent still has, so that nothing is lost to whoever was cut off. */
async function follow(
  followers: Followers,
  environment: Environment,
  reply: FastifyReply,
  stream: RpcStream,
  target: InsideProcess,
): Promise<void> {
  if (target.kind === 'terminal') {
    const viewer = await environment.terminal(target.name).attach()
    return await followTerminal(reply, stream, viewer)
  }
  await sendStart(stream, target.pid)
  const reader = commandReader(reply, stream)
  await sendEnd(stream, target.id, await followers.joined(environment, target.id, reader))
}

function processInfo({ pid, cmd, args, envs, cwd, tag }: ListedProcess): object {
  const config = { cmd, args, envs, ...(cwd !== undefined && { cwd }) }
  return { pid, config, ...(tag !== undefined && { tag }) }
}

type ListedProcess = Awaited<ReturnType<KnownProcesses['list']>>[number]
