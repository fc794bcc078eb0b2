import { readFile } from 'node:fs/promises'
import { killPoint } from '../../../linux/kill-points.ts'
import { nativeProgram } from '../../../linux/native-program.ts'
import type { Instance } from '../../../model/environment.ts'
import { ForkpointError, PrerequisiteError } from '../../../model/errors.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import type { Identity, MaterializeSpec, Ref, Remnant } from '../../backend.ts'
import type { Client } from '../engine/client.ts'
import {
  createContainer,
  listContainers,
  putArchive,
  removeContainer,
  startContainer,
} from '../engine/containers.ts'
import { ifFound } from '../engine/failures.ts'
import { guestRemnants, isGuestAlive, leave } from '../guests/guests.ts'
import { defaultsOf, isLife, type Life, lifeOf, storedOf } from '../instance.ts'
import { newLife } from '../names.ts'
import type { Room } from '../room.ts'
import { isCheckpointed, restoreAs } from '../snapshots/archives.ts'
import { startFrom } from '../snapshots/directories.ts'
import { snapshotImage, sweepTrash } from '../snapshots/snapshots.ts'
import { agentPath, containerBody, type LifeSpec, requirePossible } from './container-spec.ts'
import { runDirectory } from './run-directory.ts'
import { tarOf } from './tar.ts'

/** Starts one life: a container whose first process is the agent. Leaves nothing behind if it fails. */
export async function startLife(
  room: Room,
  given: Omit<LifeSpec, 'life'>,
  signal?: AbortSignal,
): Promise<Instance> {
  const spec: LifeSpec = { ...given, life: newLife() }
  requirePossible(room, spec, spec.defaults.run)
  const client = room.client()
  const needsBridge = spec.net.mode === 'nat' && spec.defaults.run.network === undefined
  if (needsBridge) await requireBridge(client)
  room.setUsed()
  const { id, life, defaults } = spec
  const name = room.names.container(id, life)
  const container = await createContainer(client, name, containerBody(room, spec), signal)
  killPoint('launch:directories')
  try {
    await putArchive(client, container, '/', await runFiles(spec.identity))
    await startContainer(client, container)
    killPoint('launch:alive')
  } catch (error) {
    await removeFailed(room, container)
    throw error
  }
  const instance: Life = { kind: 'container', container, life, ...defaults }
  return instance
}

/** Uploaded, not mounted: the engine may be on another machine. */
async function runFiles(identity: Identity): Promise<Buffer> {
  const agent = await readFile(nativeProgram('agent'))
  return tarOf([{ name: agentPath.slice(1), mode: 0o755, content: agent }, identityFile(identity)])
}

function identityFile(identity: Identity) {
  const content = Buffer.from(`${JSON.stringify(identity, null, 2)}\n`)
  return { name: `${runDirectory.slice(1)}/identity.json`, mode: 0o644, content }
}

async function requireBridge(client: Client): Promise<void> {
  const found = await ifFound(() => client.text({ method: 'GET', path: '/networks/bridge' }))
  if (found !== null) return
  throw new PrerequisiteError(`the ${client.kind.engine} engine has no network named bridge`, {
    remedy: 'start the engine with its bridge, or use the network mode none',
  })
}

/** Starts one life with the processes of a checkpoint. Leaves nothing behind if it fails. */
export async function continueLife(
  room: Room,
  spec: Omit<MaterializeSpec, 'replaces' | 'role'>,
): Promise<Instance> {
  const { id, identity, snapshot } = spec
  const defaults = defaultsOf(storedOf(snapshot.image))
  const life = newLife()
  const name = room.names.container(id, life)
  try {
    const container = await restored(room, name, { ...spec, life, defaults })
    killPoint('launch:alive')
    const instance: Life = { kind: 'container', container, life, ...defaults }
    await identify(room, { id, instance }, identity)
    return instance
  } catch (error) {
    await removeFailed(room, name)
    throw error
  }
}

/** An archive says everything about its container; a directory holds only processes. */
function restored(
  room: Room,
  name: string,
  spec: Omit<LifeSpec, 'image'> & Pick<MaterializeSpec, 'snapshot'>,
): Promise<string> {
  const { id } = spec.snapshot
  if (room.kind.checkpoints === 'archive') return restoreAs(room, name, id)
  const image = snapshotImage(room, id)
  return startFrom(room, name, containerBody(room, { ...spec, image }), id)
}

/** If this fails too, it is found by its label. */
async function removeFailed({ client, log }: Room, container: string): Promise<void> {
  await removeContainer(client(), container).catch((err) =>
    log.warn({ err, container }, 'a container that did not start could not be removed'),
  )
}

export async function identify(room: Room, ref: Ref, identity: Identity): Promise<void> {
  const { container, guest } = lifeOf(ref.instance)
  if (guest !== undefined) return
  await putArchive(room.client(), container, '/', tarOf([identityFile(identity)]))
}

/** Running or paused containers by id. An engine that is not there changes nothing: they stay as recorded. */
export async function aliveAmong(
  room: Room,
  refs: readonly Ref[],
): Promise<ReadonlySet<EnvironmentId>> {
  try {
    const containers = await listContainers(room.client(), room.names.home)
    const alive = new Set(containers.filter(({ State }) => isAlive(State)).map(({ Id }) => Id))
    const found = await Promise.all(
      refs.map(async ({ id, instance }) => {
        const { container, guest } = lifeOf(instance)
        const isUp = guest ? await isGuestAlive(room, guest) : alive.has(container)
        return isUp || (await isBeingCaptured(room, container)) ? [id] : []
      }),
    )
    return new Set(found.flat())
  } catch (error) {
    if (!(error instanceof ForkpointError)) throw error
    room.log.warn({ err: error }, `cannot tell which ${room.kind.name} containers are alive`)
    return new Set(refs.map(({ id }) => id))
  }
}

/** Its processes are in a checkpoint, and come back. */
async function isBeingCaptured(room: Room, container: string): Promise<boolean> {
  return room.kind.checkpoints === 'archive' && (await isCheckpointed(room, container))
}

function isAlive(state: string): boolean {
  return state === 'running' || state === 'paused'
}

/** Ends every life of an environment except `keep`. */
export async function retire(room: Room, id: EnvironmentId, keep: Instance | null): Promise<void> {
  if (!room.isUsed()) return
  await leave(room, id, keep)
  const client = room.client()
  for (const { container, id: of, life } of await ownContainers(room)) {
    const isKept = keep !== null && isLife(keep, life)
    if (of === id && !isKept) await removeContainer(client, container)
  }
  killPoint('remove:processes')
  await sweepTrash(room)
}

export async function end(room: Room, { id, instance }: Ref): Promise<void> {
  const { container, guest } = lifeOf(instance)
  await (guest ? leave(room, id, null) : removeContainer(room.client(), container))
  await sweepTrash(room)
}

export async function remnants(room: Room): Promise<readonly Remnant[]> {
  if (!room.isUsed()) return []
  const client = room.client()
  const own = (await ownContainers(room)).map(({ container, id, life }) => ({
    id,
    isPartOf: (instance: Instance) => isLife(instance, life),
    end: () => removeContainer(client, container),
  }))
  return [...own, ...(await guestRemnants(room))]
}

interface OwnContainer {
  readonly container: string
  readonly id: EnvironmentId
  readonly life: string
}

/** Everything that this home has in the engine. */
async function ownContainers({ client, names }: Room): Promise<OwnContainer[]> {
  const containers = await listContainers(client(), names.home)
  return containers.flatMap(({ Id, Names }) => {
    const name = Names.map(names.parse).find((parsed) => parsed !== null)
    return name ? [{ container: Id, ...name }] : []
  })
}
