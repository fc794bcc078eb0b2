import type { Instance } from '../../model/environment.ts'
import type {
  Backend,
  BackendContext,
  BackendMaker,
  CreateSpec,
  DeclaredCapability,
  InstanceState,
  MaterializeSpec,
  Ref,
} from '../backend.ts'
import type { Left, Machine, Pausing } from '../facets.ts'
import { checkEngine } from './check.ts'
import { inspectContainer, pauseContainer, unpauseContainer } from './engine/containers.ts'
import {
  docker,
  dockerProcesses,
  type EngineKind,
  hasCheckpoints,
  podman,
  podmanCriu,
} from './engine/engine-kind.ts'
import { unlessRefused } from './engine/failures.ts'
import { requireExperimental } from './experimental.ts'
import { extras, extrasOf } from './extras.ts'
import { attaching, isGuestAlive } from './guests/guests.ts'
import { defaultsOf, lifeOf, storedOf } from './instance.ts'
import { connectTo } from './lives/connecting.ts'
import { requirePossible } from './lives/container-spec.ts'
import {
  aliveAmong,
  continueLife,
  end,
  identify,
  remnants,
  retire,
  startLife,
} from './lives/lives.ts'
import { readStats } from './lives/stats.ts'
import { openRoom, type Room } from './room.ts'
import { withFreePorts } from './run-arguments/run-options.ts'
import {
  abandon,
  capture,
  discard,
  keepBase,
  snapshotImage,
  sweepImages,
} from './snapshots/snapshots.ts'
import { imageFor } from './sources/sources.ts'

const always: readonly DeclaredCapability[] = [
  'filesystem',
  'fork',
  'restore',
  'limits',
  'identity',
  'ports',
  'from-image',
  'from-dockerfile',
]

const withCheckpoints: readonly DeclaredCapability[] = ['processes', 'terminal', 'durable']

export const dockerMaker: BackendMaker = { open: (context) => containerBackend(docker, context) }
export const dockerProcessesMaker: BackendMaker = {
  open: (context) => containerBackend(dockerProcesses, context),
}
export const podmanMaker: BackendMaker = { open: (context) => containerBackend(podman, context) }
export const podmanCriuMaker: BackendMaker = {
  open: (context) => containerBackend(podmanCriu, context),
}

/** Containers of an engine that speaks Docker's API; snapshots are images that it commits. */
function containerBackend(kind: EngineKind, context: BackendContext): Backend {
  const room = openRoom(kind, context)
  return {
    name: kind.name,
    // A restored container gets other addresses than its connections have.
    declares: [...always, ...(hasCheckpoints(kind) ? withCheckpoints : (['nat'] as const))],
    check: () => checkEngine(room),
    validate: async (source) => {
      await requireExperimental(room)
      const { workdir, volumes } = await imageFor(room, source)
      if (volumes.length > 0) room.log.warn({ volumes }, 'volumes of the image are in no snapshot')
      return { workdir }
    },
    create: (spec, signal) => create(room, spec, signal),
    connect: (ref) => connectTo(room, ref),
    alive: (refs) => aliveAmong(room, refs),
    inspect: (ref) => stateOf(room, ref),
    stats: (ref) => readStats(room, ref),
    identify: (ref, identity) => identify(room, ref, identity),
    capture: (ref, draft, options) => capture(room, ref, draft, options),
    abandon: (ref, draft) => abandon(room, ref, draft),
    materialize: (spec) => materialize(room, spec),
    end: (ref) => end(room, ref),
    retire: (id, keep) => retire(room, id, keep),
    destroy: (id) => retire(room, id, null),
    discard: (id) => discard(room, id),
    remnants: () => remnants(room),
    pausing: pausing(room),
    attaching: attaching(room),
    machine: machine(room),
    extras: extras(room),
    ...variantOf(kind, context),
    [Symbol.asyncDispose]: async () => {},
  }
}

/** The backend of the same engine whose snapshots hold processes. */
function variantOf({ name }: EngineKind, { settings }: BackendContext) {
  switch (name) {
    case 'docker':
      return {
        withProcesses: { backend: dockerProcesses.name, isDefault: settings.docker.processes },
      }
    case 'podman':
      return { withProcesses: { backend: podmanCriu.name, isDefault: false } }
    default:
      return {}
  }
}

/** While one process makes a container from an image that it built, no other may remove that image. */
const buildLease = ({ kind }: Room) => `build:${kind.name}`

async function create(room: Room, spec: CreateSpec, signal?: AbortSignal): Promise<Instance> {
  const { run, exportDir } = await extrasOf(room, spec)
  requirePossible(room, spec, run)
  const start = async () => {
    const image = await imageFor(room, spec.source, signal)
    if (room.kind.checkpoints === 'archive') await keepBase(room, image.id)
    const defaults = { user: run.user ?? image.user, env: [...image.env], run, exportDir }
    return await startLife(room, { ...spec, image: image.id, defaults }, signal)
  }
  if (spec.source.kind !== 'dockerfile' && !hasCheckpoints(room.kind)) return await start()
  return await room.exclusively(buildLease(room), 'create', start)
}

async function materialize(room: Room, spec: MaterializeSpec): Promise<Instance> {
  const { id, identity, limits, net, snapshot } = spec
  const stored = storedOf(snapshot.image)
  if (stored.kind === 'checkpoint') return await continueLife(room, spec)
  const image = snapshotImage(room, snapshot.id)
  const defaults = { ...defaultsOf(stored), run: withFreePorts(stored.run) }
  return await startLife(room, { id, identity, limits, net, image, defaults })
}

async function stateOf(room: Room, { instance }: Ref): Promise<InstanceState> {
  const { container, guest } = lifeOf(instance)
  if (guest !== undefined && !(await isGuestAlive(room, guest))) return 'dead'
  const found = await inspectContainer(room.client(), container)
  const status = found?.State.Status
  return status === 'running' || status === 'paused' ? status : 'dead'
}

/** Docker answers 409 for what is so already, Podman 500. */
function pausing(room: Room): Pausing {
  const unlessIs = (wanted: InstanceState, change: typeof pauseContainer) => async (ref: Ref) => {
    if ((await stateOf(room, ref)) === wanted) return
    await unlessRefused([304], () => change(room.client(), lifeOf(ref.instance).container))
  }
  return {
    pause: unlessIs('paused', pauseContainer),
    resume: unlessIs('running', unpauseContainer),
  }
}

function machine(room: Room): Machine {
  return {
    ready: async () => {},
    harden: async () => {},
    isOutdated: () => false,
    freeUnused: (left) => freeUnused(room, left),
  }
}

async function freeUnused(room: Room, left: () => Left): Promise<void> {
  if (!room.isUsed()) return
  await room.exclusively(buildLease(room), 'removing images', async () => {
    if (left() !== 'nothing') return
    await sweepImages(room)
    room.setUnused()
  })
}
