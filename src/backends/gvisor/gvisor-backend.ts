import { imagesOf } from '../../images/prune.ts'
import { removeTree } from '../../linux/files/remove-tree.ts'
import { freeShared } from '../../linux/lives/free-shared.ts'
import { isAlive } from '../../linux/process-identity.ts'
import type {
  Backend,
  BackendContext,
  BackendMaker,
  DeclaredCapability,
  Identity,
  InstanceState,
  Ref,
} from '../backend.ts'
import type { Pausing } from '../facets.ts'
import { gvisorAttaching } from './attach/attaching.ts'
import { abandon, capture, pause, resume } from './capturing.ts'
import { checkGvisor } from './checks.ts'
import { type Gvisor, openGvisor } from './gvisor.ts'
import { imageStore } from './gvisor-images.ts'
import { noteIdentity, tellIdentity } from './identity.ts'
import { fromRecord } from './instance.ts'
import { destroy, endLife, remnants, retire } from './lives.ts'
import type { LifePlaces } from './places.ts'
import { stateOf } from './processes.ts'
import { connectThrough } from './relay.ts'
import { findRunsc } from './runsc.ts'
import { validateSource } from './sources.ts'
import { create, materialize } from './starting.ts'
import { readStats } from './stats.ts'

const declares: readonly DeclaredCapability[] = [
  'filesystem',
  'processes',
  'terminal',
  'fork',
  'restore',
  'durable',
  'identity',
  'ports',
  'from-host',
  'from-dir',
  'from-rootfs',
  'from-image',
  'from-dockerfile',
  'from-oci',
  'from-archive',
  'from-container',
]

export const gvisorMaker: BackendMaker = { open: gvisorBackend }

/** gVisor's runsc: a kernel in user space, whose checkpoint has files and processes in one image. */
function gvisorBackend(context: BackendContext): Backend {
  const gvisor = openGvisor(context)
  return {
    name: 'gvisor',
    declares,
    check: () => checkGvisor(gvisor),
    validate: async (source, signal) => {
      findRunsc(gvisor.runscPlace)
      return await validateSource(gvisor, source, signal)
    },
    create: (spec, signal) => create(gvisor, spec, signal),
    connect: async (ref) => connectThrough(gvisor, lifeOf(gvisor, ref)),
    alive: async (refs) => new Set(refs.filter(isLive).map(({ id }) => id)),
    inspect: (ref) => inspect(gvisor, ref),
    stats: (ref) => readStats(gvisor, ref),
    identify: (ref, identity) => rename(gvisor, ref, identity),
    capture: (ref, draft, options) => capture(gvisor, ref, draft, options),
    abandon: (ref, draft) => abandon(gvisor, ref, draft),
    materialize: (spec) => materialize(gvisor, spec),
    end: ({ id, instance }) => endLife(gvisor, { id, slot: fromRecord(instance).slot }),
    retire: (id, keep) => retire(gvisor, id, keep),
    destroy: (id) => destroy(gvisor, id),
    discard: async (id) => {
      await removeTree(gvisor.tools, gvisor.places.snapshot(id))
      await freeShared(gvisor)
    },
    remnants: async () => remnants(gvisor),
    pausing: gvisorPausing(gvisor),
    attaching: gvisorAttaching(gvisor),
    images: imagesOf(imageStore(gvisor)),
    [Symbol.asyncDispose]: async () => gvisor[Symbol.dispose](),
  }
}

function gvisorPausing(gvisor: Gvisor): Pausing {
  return {
    pause: (ref) => pause(gvisor, lifeOf(gvisor, ref)),
    resume: async (ref) => {
      const life = lifeOf(gvisor, ref)
      await resume(gvisor, life)
      // It may have been renamed meanwhile.
      await tellIdentity(gvisor, life)
    },
  }
}

/** A life that has ended learns nothing more; its next one begins with the new name. */
async function rename(gvisor: Gvisor, ref: Ref, identity: Identity): Promise<void> {
  const state = await inspect(gvisor, ref)
  if (state === 'dead') return
  const life = lifeOf(gvisor, ref)
  await noteIdentity(life, identity)
  if (state === 'running') await tellIdentity(gvisor, life)
}

async function inspect(gvisor: Gvisor, ref: Ref): Promise<InstanceState> {
  if (!isLive(ref)) return 'dead'
  return (await stateOf(gvisor, lifeOf(gvisor, ref))).status === 'paused' ? 'paused' : 'running'
}

function isLive({ instance }: Ref): boolean {
  return isAlive(fromRecord(instance).process)
}

function lifeOf({ places }: Gvisor, { id, instance }: Ref): LifePlaces {
  return places.life(id, fromRecord(instance).slot)
}
