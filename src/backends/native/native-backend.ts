import type { Duplex } from 'node:stream'
import { openAgentSocket } from '../../agent/wire/socket.ts'
import { imagesOf } from '../../images/prune.ts'
import type {
  Backend,
  BackendContext,
  BackendMaker,
  DeclaredCapability,
  Identity,
  InstanceState,
  Ref,
} from '../backend.ts'
import type { Pausing, Spares } from '../facets.ts'
import { nativeAttaching } from './adopt/adopting.ts'
import { abandonSnapshot, discardSnapshot, takeSnapshot } from './capturing.ts'
import type { Cgroups } from './cell/cgroup.ts'
import { writeIdentity } from './cell/environment-directory.ts'
import { isFrozen, thaw } from './cell/freezer.ts'
import { destroy, endSlot, remnants, retire } from './cell/lives.ts'
import { checkMachine } from './doctor/checks.ts'
import { explained } from './host-failures.ts'
import { fromRecord, isLive } from './instance.ts'
import { nativeMachine } from './machine.ts'
import { type Native, openNative } from './native.ts'
import { imageStore } from './native-images.ts'
import { changeNet } from './network/change-net.ts'
import { nativeConnections } from './network/give-connections.ts'
import { viewFiles } from './overlay/view/view-files.ts'
import { watchVolume } from './overlay/volumes/watch-volume.ts'
import type { EnvironmentPlaces } from './places.ts'
import { checkRoot, isRoot, requireRoot, requireTrustedTools } from './prerequisites.ts'
import { freezeForLong } from './snapshot/continue-original.ts'
import { validateSource } from './sources.ts'
import { create, materialize, prepare, wake } from './starting.ts'
import { privateMemory } from './stats/private-memory.ts'
import { readStats } from './stats/stats.ts'
import { nativeStorage } from './storage.ts'

const declares: readonly DeclaredCapability[] = [
  'filesystem',
  'processes',
  'terminal',
  'fork',
  'restore',
  'nat',
  'limits',
  'rates',
  'identity',
  'ports',
  'memory-sharing',
  'from-host',
  'from-dir',
  'from-rootfs',
  'from-image',
  'from-dockerfile',
  'from-oci',
  'from-archive',
  'from-container',
]

export const nativeMaker: BackendMaker = {
  prerequisites: () => [checkRoot()],
  open: nativeBackend,
}

/** Namespaces, OverlayFS and CRIU on an ordinary kernel. */
function nativeBackend(context: BackendContext): Backend {
  const native = openNative(context)
  requireTrustedTools(native.settings)
  const watch = watchVolume(native)
  return {
    name: 'native',
    declares,
    // Without root nothing can be probed; the prerequisites report that.
    check: async () => (isRoot() ? await checkMachine(probing(native)) : []),
    validate: async (source, signal) => {
      requireRoot()
      return await validateSource(native, source, signal)
    },
    create: (spec, signal) => create(native, spec, signal),
    connect: (ref) => connect(native, ref),
    alive: async (refs) =>
      new Set(refs.filter(({ instance }) => isLive(instance)).map(({ id }) => id)),
    inspect: async (ref) => stateOf(native, ref),
    stats: (ref, head) => readStats(native, ref, head),
    identify: (ref, identity) => identify(native, ref, identity),
    capture: (ref, draft, options) => takeSnapshot(native, ref, draft, options),
    abandon: (ref, draft) => abandonSnapshot(native, ref, draft),
    materialize: (spec) => materialize(native, spec),
    end: ({ id, instance }) => endSlot(native, id, fromRecord(instance).slot),
    retire: (id, keep) => retire(native, id, keep),
    destroy: (id) => destroy(native, id),
    discard: (id) => discardSnapshot(native, id),
    remnants: () => remnants(native),
    failureLogs: () => native.workers.logs.list(),
    pausing: nativePausing(native),
    networking: { change: (ref, spec) => changeNet(native, ref, spec) },
    attaching: nativeAttaching(native),
    files: viewFiles(native),
    connections: nativeConnections(native),
    spares: nativeSpares(native),
    storage: nativeStorage(native),
    images: imagesOf(imageStore(native)),
    machine: nativeMachine(native),
    [Symbol.asyncDispose]: async () => {
      await watch[Symbol.asyncDispose]()
      native[Symbol.dispose]()
    },
  }
}

async function connect(native: Native, ref: Ref): Promise<Duplex> {
  const { slot, socket, disk } = fromRecord(ref.instance)
  await native.disks.refresh(native.places.filesOf(ref.id, slot), disk)
  return await openAgentSocket(placeOf(native, ref).socket, socket)
}

function nativePausing(native: Native): Pausing {
  return {
    pause: (ref) => freezeForLong(native, groupsOf(native, ref)),
    resume: (ref) => thaw(groupsOf(native, ref)),
  }
}

function nativeSpares(native: Native): Spares {
  return {
    prepare: (spec) => prepare(native, spec),
    wake: (ref, identity) => wake(native, ref, identity),
    privateBytes: (ref) => privateMemory(native.layout, groupsOf(native, ref)),
  }
}

function stateOf(native: Native, ref: Ref): InstanceState {
  if (!isLive(ref.instance)) return 'dead'
  return isFrozen(groupsOf(native, ref)) ? 'paused' : 'running'
}

function identify(native: Native, ref: Ref, identity: Identity): Promise<void> {
  return explained('writing /run/forkpoint/identity.json inside', () =>
    writeIdentity(placeOf(native, ref), identity, native.settings.ids.base),
  )
}

function groupsOf(native: Native, { id, instance }: Ref): Cgroups {
  return native.cgroups(id, fromRecord(instance).slot)
}

function placeOf({ places }: Native, { id, instance }: Ref): EnvironmentPlaces {
  return places.slot(id, fromRecord(instance).slot)
}

/** What `doctor` makes its cells with. */
function probing(native: Native): Parameters<typeof checkMachine>[0] {
  return {
    native,
    create: (spec) => create(native, spec),
    destroy: (id) => destroy(native, id),
  }
}
