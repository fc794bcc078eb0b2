import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  openAgentSocket,
  readSocketIdentity,
  type SocketIdentity,
} from '../../agent/wire/socket.ts'
import { criuFailure } from '../../criu/criu-failure.ts'
import { killPoint } from '../../linux/kill-points.ts'
import type { LifeName } from '../../linux/lives/life-directories.ts'
import { nativeProgram } from '../../linux/native-program.ts'
import { identify, isAlive, type ProcessIdentity } from '../../linux/process-identity.ts'
import type { Instance } from '../../model/environment.ts'
import { BackendError } from '../../model/errors.ts'
import { patience } from '../../model/values/patience.ts'
import type { CreateSpec, Identity, MaterializeSpec } from '../backend.ts'
import { restoreAdopted } from './attach/restore-adopted.ts'
import { commonOptions } from './capturing.ts'
import { type Adopted, type Base, imageOf, toRecord } from './instance.ts'
import { begin, beginNew, endLife } from './lives.ts'
import type { LifePlaces } from './places.ts'
import type { Plain } from './plain.ts'
import { requireSocketName } from './socket-name.ts'
import { noSuchSource } from './sources.ts'

const agentStartSeconds = 10

export async function create(
  plain: Plain,
  { id, source, identity }: CreateSpec,
  signal?: AbortSignal,
): Promise<Instance> {
  if (source.kind !== 'dir') throw noSuchSource(source)
  const { name, agent } = await beginNew(plain, id, 'create', signal)
  const from = source.path
  const base = { workdir: from, agent }
  return await start(plain, name, { base, identity, from, images: null, adopted: undefined })
}

export async function materialize(
  plain: Plain,
  { id, snapshot, identity }: MaterializeSpec,
): Promise<Instance> {
  const { captured, workdir, agent, adopted } = imageOf(snapshot)
  const { files, images } = plain.places.snapshot(snapshot.id)
  const base = { workdir, agent }
  return await start(plain, await begin(plain, id, agent), {
    base,
    identity,
    from: files,
    images: captured.includes('processes') ? images : null,
    adopted,
  })
}

interface Start {
  readonly base: Base
  readonly identity: Identity
  /** what its working directory is copied from */
  readonly from: string
  /** the processes to restore; null: a new agent */
  readonly images: string | null
  /** their images have no agent: a new one restores them */
  readonly adopted: Adopted | undefined
}

/** Starts a life, and leaves nothing behind if that fails. */
async function start(plain: Plain, name: LifeName, spec: Start): Promise<Instance> {
  const life = plain.places.life(name.id, name.slot)
  killPoint('launch:directories')
  try {
    await prepare(plain, life, spec)
    const process = await launch(plain, life, spec)
    killPoint('launch:alive')
    const socket = await listening(life, process)
    if (spec.images !== null && spec.adopted !== undefined) {
      await restoreAdopted(plain, life, { socket, images: spec.images, adopted: spec.adopted })
    }
    return toRecord({ kind: 'criu', slot: name.slot, process, socket, ...spec.base })
  } catch (error) {
    await endLife(plain, name)
    throw error
  }
}

async function prepare(
  { places, tools }: Plain,
  life: LifePlaces,
  { from, identity }: Start,
): Promise<void> {
  await mkdir(places.here, { recursive: true, mode: 0o755 })
  await mkdir(life.run, { mode: 0o755 })
  await writeIdentity(life, identity)
  await tools.mustRun(`copying ${from}`, 'cp', ['-aT', '--reflink=auto', '--', from, life.files])
}

export async function writeIdentity({ run }: LifePlaces, identity: Identity): Promise<void> {
  await writeFile(join(run, 'identity.json'), `${JSON.stringify(identity, null, 2)}\n`)
}

/** Makes the namespaces, and in them runs the agent, or a CRIU that restores it with everything else. */
async function launch(plain: Plain, life: LifePlaces, spec: Start): Promise<ProcessIdentity> {
  const { places, tools, logs } = plain
  const { base } = spec
  const images = spec.adopted === undefined ? spec.images : null
  const program = images === null ? agentWords(plain, base) : restoreWords(plain, life, images)
  const mounts = [life.files, base.workdir, life.run, places.here]
  const mode = images !== null ? 'finish' : spec.adopted === undefined ? 'serve' : 'leave-pids'
  const ended = await tools.run(nativeProgram('cell'), ['plain', ...mounts, mode, ...program])
  const process = ended.exitCode === 0 ? identify(Number(ended.stdout)) : undefined
  if (process !== undefined) return process
  if (images !== null) {
    throw await criuFailure('restore', join(life.dir, 'restore.log'), ended.stderr, logs)
  }
  throw new BackendError(`the agent did not start: ${ended.stderr.trim() || 'it said nothing'}`, {
    remedy: 'run `forkpoint doctor`, which starts and dumps one',
  })
}

function agentWords({ places }: Plain, { agent }: Base): string[] {
  return [agent, '--socket', requireSocketName(join(places.here, 'agent.sock'))]
}

function restoreWords(plain: Plain, { dir }: LifePlaces, images: string): string[] {
  const options = ['--restore-detached', '--work-dir', dir, '--log-file', 'restore.log']
  return [...plain.criu(), 'restore', '--images-dir', images, ...commonOptions, ...options]
}

/** Waits until the agent listens, and notes which socket is its own. */
async function listening(
  { socket: path }: LifePlaces,
  process: ProcessIdentity,
): Promise<SocketIdentity> {
  const deadline = performance.now() + patience(agentStartSeconds)
  for (;;) {
    try {
      const socket = await openAgentSocket(path, null)
      socket.destroy()
      return await readSocketIdentity(path)
    } catch (cause) {
      if (!isAlive(process) || performance.now() > deadline) {
        const remedy = 'run `forkpoint doctor`, which starts and dumps one'
        throw new BackendError('the agent of a new environment did not start', { cause, remedy })
      }
    }
    await sleep(1)
  }
}
