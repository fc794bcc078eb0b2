import { mkdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  openAgentSocket,
  readSocketIdentity,
  type SocketIdentity,
} from '../../../agent/wire/socket.ts'
import { entering } from '../../../criu/foreign/namespaces.ts'
import { processOf } from '../../../criu/foreign/process.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import { namedProcesses } from '../../../linux/lives/named-processes.ts'
import { readOfProcess } from '../../../linux/process-files.ts'
import type { ProcessIdentity } from '../../../linux/process-identity.ts'
import type { Instance } from '../../../model/environment.ts'
import { BackendError, InvalidInputError } from '../../../model/errors.ts'
import { patience } from '../../../model/values/patience.ts'
import type { AttachSpec } from '../../facets.ts'
import { toRecord } from '../instance.ts'
import { beginNew, endLife } from '../lives.ts'
import type { LifePlaces } from '../places.ts'
import type { Plain } from '../plain.ts'
import { requireSocketName } from '../socket-name.ts'
import { validateSource } from '../sources.ts'

const agentStartSeconds = 10
const pauseMs = 5

/** Starts an agent in the namespaces of a process that runs already. The process itself is not touched. */
export async function attach(
  plain: Plain,
  { id, target, workdir }: AttachSpec,
  signal?: AbortSignal,
): Promise<Instance> {
  const foreign = processOf(target)
  await requireCopyable(workdir, plain.home)
  const { name, agent } = await beginNew(plain, id, 'attach', signal)
  const life = plain.places.life(id, name.slot)
  killPoint('attach:noted')
  try {
    await mkdir(life.run, { mode: 0o755 })
    await startAgent(plain, foreign, agent, life)
    killPoint('attach:brought')
    const { process, socket } = await listening(agent, life)
    killPoint('attach:alive')
    const { slot } = name
    return toRecord({ kind: 'criu', slot, process, socket, workdir, agent, foreign })
  } catch (error) {
    await endLife(plain, name)
    throw error
  }
}

/** Its files become part of every snapshot. */
async function requireCopyable(workdir: string, home: string): Promise<void> {
  try {
    await validateSource({ kind: 'dir', path: workdir }, home)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new InvalidInputError(`snapshots would have to copy the working directory: ${why}`, {
      cause,
      remedy: 'give the directory that the process works on with --workdir',
    })
  }
}

/** It must not end with us, and holds nothing of ours open. */
async function startAgent(
  { tools }: Plain,
  { pid }: ProcessIdentity,
  agent: string,
  { socket }: LifePlaces,
): Promise<void> {
  requireSocketName(socket)
  const detached = 'exec setsid -f "$@" < /dev/null > /dev/null 2>&1'
  const words = [...entering(pid), 'env', '-i', '-C', '/', agent, '--socket', socket]
  await tools.mustRun('starting an agent', 'sh', ['-c', detached, 'sh', ...words])
}

interface Listening {
  readonly process: ProcessIdentity
  readonly socket: SocketIdentity
}

async function listening(agent: string, life: LifePlaces): Promise<Listening> {
  const deadline = performance.now() + patience(agentStartSeconds)
  for (;;) {
    try {
      const connection = await openAgentSocket(life.socket, null)
      connection.destroy()
      const [process] = namedProcesses([agent, life.socket]).filter(({ pid }) =>
        isAgent(pid, agent),
      )
      if (process !== undefined) return { process, socket: await readSocketIdentity(life.socket) }
    } catch (cause) {
      if (performance.now() > deadline) throw notStarted(cause)
    }
    await sleep(pauseMs)
  }
}

/** Not whoever starts it in another pid namespace, and has the same words among its own. */
function isAgent(pid: number, agent: string): boolean {
  return readOfProcess(pid, 'cmdline')?.split('\0')[0] === agent
}

function notStarted(cause: unknown): BackendError {
  return new BackendError('the agent did not start beside the process', {
    cause,
    remedy: 'check that the process still runs, and that it can see the home',
  })
}
