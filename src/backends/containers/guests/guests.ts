import { readFile } from 'node:fs/promises'
import { killPoint } from '../../../linux/kill-points.ts'
import { nativeProgram } from '../../../linux/native-program.ts'
import type { Instance } from '../../../model/environment.ts'
import { BackendError } from '../../../model/errors.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import type { Remnant } from '../../backend.ts'
import type { Attaching, AttachSpec } from '../../facets.ts'
import { pathTime, putArchive } from '../engine/containers.ts'
import { hasCheckpoints } from '../engine/engine-kind.ts'
import { isExecRunning, runExec, startExec } from '../engine/execs.ts'
import { extrasOf } from '../extras.ts'
import { type Guest, isLife, type Life, lifeOf } from '../instance.ts'
import { guestArguments } from '../lives/container-spec.ts'
import { tarOf } from '../lives/tar.ts'
import { newLife } from '../names.ts'
import type { Room } from '../room.ts'
import { listNotes, type Note, readNote, removeNote, writeNote } from './note.ts'
import { findHost, type Host, inspectHost } from './target.ts'

/** Containers that somebody else runs have our agent as a guest. */
export function attaching(room: Room): Attaching {
  return {
    find: (target) => findHost(room, target),
    attach: (spec, signal) => attach(room, spec, signal),
    keyOf: (instance) => lifeOf(instance).guest?.key ?? null,
    // A dump with processes ends the container, and starts it again.
    lacks: (instance) =>
      hasCheckpoints(room.kind) && lifeOf(instance).guest !== undefined
        ? ['processes', 'terminal']
        : [],
  }
}

/** In a directory that is no part of the container's files, so that no image has it. */
const directoryOf = (life: string) => `/dev/.forkpoint-${life}`
/** There for a moment. In `/`, because a change in another directory would stay visible. */
const programOf = (life: string) => `/.forkpoint-${life}`

async function attach(room: Room, spec: AttachSpec, signal?: AbortSignal): Promise<Instance> {
  const client = room.client()
  const [known = ''] = spec.target.key.split('@')
  const host = await findHost(room, known)
  if (host.key !== spec.target.key) throw startedAgain(host)
  const { container, startedAt, key } = host
  const defaults = { user: host.user, env: [...host.env], ...(await extrasOf(room, spec)) }
  const life = newLife()
  const program = programOf(life)
  const rootTime = (await pathTime(client, container, '/')) ?? '0'
  room.setUsed()
  await writeNote(room, spec.id, { container, startedAt, life, rootTime })
  killPoint('attach:noted')
  await putProgram(room, container, program)
  killPoint('attach:brought')
  signal?.throwIfAborted()
  const directory = directoryOf(life)
  const command = [program, '--guest', directory, ...guestArguments(directory, defaults)]
  const exec = await explained(host, () => startExec(client, { container, command }))
  killPoint('attach:alive')
  const settle = [program, '--settle', directory, '--program', program, '--time', rootTime]
  const printed = await explained(host, () => runExec(client, { container, command: settle }))
  const guest: Guest = { key, exec, directory, ...agentIn(printed) }
  const instance: Life = { kind: 'container', container, life, ...defaults, guest }
  return instance
}

async function putProgram(room: Room, container: string, program: string): Promise<void> {
  const content = await readFile(nativeProgram('agent'))
  const archive = tarOf([{ name: program.slice(1), mode: 0o700, content }])
  await putArchive(room.client(), container, '/', archive)
}

function agentIn(printed: string): Pick<Guest, 'pid' | 'program'> {
  const [, pid, program] = /^([1-9]\d{0,8}) (\/\S{1,200})\n$/.exec(printed) ?? []
  if (pid !== undefined && program !== undefined) return { pid: Number(pid), program }
  throw new BackendError('the agent in the container did not say which process it is', {
    remedy: 'try again; if it fails each time, something inside keeps it from running',
    lastWords: printed,
  })
}

async function explained<T>({ name }: Host, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof BackendError)) throw error
    throw new BackendError(`the agent cannot run in the container ${name}: ${error.message}`, {
      remedy: 'check that it may run programs as root, and is of the same kind of processor',
      cause: error,
    })
  }
}

function startedAgain({ name }: Host): BackendError {
  return new BackendError(`the container ${name} was started again meanwhile`, {
    remedy: 'attach to it again',
  })
}

/** Whether our agent still runs there; a container that was started again has none. */
export function isGuestAlive(room: Room, { exec }: Guest): Promise<boolean> {
  return isExecRunning(room.client(), exec)
}

/** Takes away what was brought for this environment, except for the life `keep`. */
export async function leave(room: Room, id: EnvironmentId, keep: Instance | null): Promise<void> {
  if ((await readNote(room, id)) === null) return
  // The end of a life that was replaced and the removal of its environment may come together.
  await room.exclusively(`guest:${id}`, 'leaving a container', async () => {
    const note = await readNote(room, id)
    if (note === null || (keep !== null && isLife(keep, note.life))) return
    if (await hasGuest(room, note)) await endGuest(room, note)
    await removeNote(room, id)
  })
}

/**
 * A container that has ended has no processes of ours, and nothing in /dev. One that was started again may
 * still have the program, if it ended while we came.
 */
async function hasGuest(room: Room, { container, startedAt, life }: Note): Promise<boolean> {
  const found = await inspectHost(room, container)
  if (found === null || !isUp(found.State.Status)) return false
  if (found.State.StartedAt === startedAt) return true
  return (await pathTime(room.client(), container, programOf(life))) !== null
}

function isUp(status: string): boolean {
  return status === 'running' || status === 'paused'
}

/** Brings the program once more, because nothing was left there to end the agent with. */
async function endGuest(room: Room, { container, life, rootTime }: Note): Promise<void> {
  const client = room.client()
  const stale = programOf(life)
  const program = `${stale}-end`
  // Only an attach that did not come to its end has left the first one there.
  const isHalfDone = (await pathTime(client, container, stale)) !== null
  const now = await pathTime(client, container, '/')
  const time = isHalfDone || now === null ? rootTime : now
  await putProgram(room, container, program)
  const names = ['--program', program, '--stale', stale, '--time', time]
  const command = [program, '--leave', directoryOf(life), ...names]
  await runExec(client, { container, command })
}

/** Where this home has guests. */
export async function guestRemnants(room: Room): Promise<readonly Remnant[]> {
  return (await listNotes(room)).map(({ id, life }) => ({
    id,
    isPartOf: (instance) => isLife(instance, life),
    end: () => leave(room, id, null),
  }))
}
