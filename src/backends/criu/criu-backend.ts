import { openAgentSocket } from '../../agent/wire/socket.ts'
import { keyOf } from '../../criu/foreign/process.ts'
import { removeTree } from '../../linux/files/remove-tree.ts'
import { freeShared } from '../../linux/lives/free-shared.ts'
import { isAlive } from '../../linux/process-identity.ts'
import { treeOf } from '../../linux/process-tree.ts'
import { terminalsOf } from '../../linux/terminals-of.ts'
import type {
  Backend,
  BackendContext,
  BackendMaker,
  DeclaredCapability,
  InstanceStats,
  Ref,
} from '../backend.ts'
import { attach } from './attach/beside.ts'
import { captureForeign } from './attach/capture-foreign.ts'
import { findTarget } from './attach/target.ts'
import { abandon, bytesBelow, capture } from './capturing.ts'
import { checkCriu } from './checks.ts'
import { fromRecord } from './instance.ts'
import { destroy, endLife, remnants, retire } from './lives.ts'
import { processesBeside, usageOf } from './namespace.ts'
import type { LifePlaces } from './places.ts'
import { openPlain, type Plain, requireRoot } from './plain.ts'
import { validateSource } from './sources.ts'
import { create, materialize, writeIdentity } from './starting.ts'

const declares: readonly DeclaredCapability[] = [
  'filesystem',
  'processes',
  'terminal',
  'fork',
  'restore',
  'durable',
  'ports',
  'from-dir',
]

export const criuMaker: BackendMaker = { open: criuBackend }

/** Plain processes that share the host's files, except for a working directory, and are dumped with CRIU. */
function criuBackend(context: BackendContext): Backend {
  const plain = openPlain(context)
  return {
    name: 'criu',
    declares,
    check: () => checkCriu(plain),
    validate: async (source) => {
      requireRoot()
      plain.criu()
      return await validateSource(source, plain.home)
    },
    create: (spec, signal) => create(plain, spec, signal),
    connect: (ref) => openAgentSocket(lifeOf(plain, ref).socket, fromRecord(ref.instance).socket),
    alive: async (refs) => new Set(refs.filter(isLive).map(({ id }) => id)),
    inspect: async (ref) => (isLive(ref) ? 'running' : 'dead'),
    stats: (ref) => readStats(plain, ref),
    // A life that has ended learns nothing more; its next one begins with the new name.
    identify: async (ref, identity) => {
      if (isLive(ref) && !isForeign(ref)) await writeIdentity(lifeOf(plain, ref), identity)
    },
    capture: (ref, draft, options) =>
      isForeign(ref)
        ? captureForeign(plain, ref, draft, options)
        : capture(plain, ref, draft, options),
    abandon: (ref, draft) => abandon(plain, ref, draft),
    materialize: (spec) => materialize(plain, spec),
    end: ({ id, instance }) => endLife(plain, { id, slot: fromRecord(instance).slot }),
    retire: (id, keep) => retire(plain, id, keep),
    destroy: (id) => destroy(plain, id),
    discard: async (id) => {
      await removeTree(plain.tools, plain.places.snapshot(id).dir)
      await freeShared(plain)
    },
    remnants: async () => remnants(plain),
    failureLogs: () => plain.logs.list(),
    attaching: {
      find: async (target) => {
        requireRoot()
        plain.criu()
        return findTarget(target)
      },
      attach: (spec, signal) => attach(plain, spec, signal),
      keyOf: (instance) => {
        const { foreign } = fromRecord(instance)
        return foreign === undefined ? null : keyOf(foreign)
      },
      lacks: (instance) => (fromRecord(instance).foreign === undefined ? [] : ['terminal']),
    },
    [Symbol.asyncDispose]: async () => plain[Symbol.dispose](),
  }
}

async function readStats(plain: Plain, ref: Ref): Promise<InstanceStats> {
  const { process, foreign, workdir } = fromRecord(ref.instance)
  const pids = foreign === undefined ? processesBeside(process.pid) : treeOf(foreign.pid)
  const { residentBytes: bytes, cpuMs } = usageOf(pids)
  return {
    memoryBytes: bytes,
    memory: { privateBytes: bytes, sharedBytes: 0, totalBytes: bytes },
    memoryLimitBytes: null,
    cpuMs,
    processes: pids.length,
    processLimit: null,
    terminals: terminalsOf(pids),
    // The whole working directory: the next snapshot copies all of it.
    diskBytes: await bytesBelow(plain, foreign === undefined ? lifeOf(plain, ref).files : workdir),
    diskUsedBytes: null,
    diskLimitBytes: null,
  }
}

function isLive({ instance }: Ref): boolean {
  const { process, foreign } = fromRecord(instance)
  return isAlive(process) && (foreign === undefined || isAlive(foreign))
}

function isForeign({ instance }: Ref): boolean {
  return fromRecord(instance).foreign !== undefined
}

function lifeOf({ places }: Plain, { id, instance }: Ref): LifePlaces {
  return places.life(id, fromRecord(instance).slot)
}
