import { statfs } from 'node:fs/promises'
import type { Input, OperationName } from '../../api/contract/contract.ts'
import type { CallOptions } from '../../api/control.ts'
import { diskRefused, type Share } from '../../model/admission.ts'
import type { EnvironmentStatus, Limits } from '../../model/environment.ts'
import type { SnapshotSizes } from '../../model/snapshot.ts'
import type { Engine } from '../engine.ts'
import { type FairQueue, fairQueue } from './fair-queue.ts'
import { type Asked, type Bound, whyRefused } from './judge.ts'

/** Decides whether an operation may begin now, later, or not at all. */
export interface Admission {
  /** Waits for its turn. Rejects with what is scarce. Dispose of the result when the operation has ended. */
  enter<N extends OperationName>(
    name: N,
    input: Input<N>,
    options: CallOptions,
  ): Promise<Disposable>
  /** how many operations wait for their turn */
  readonly waiting: number
}

/** What an operation would add, for those that make, capture or replace environments. */
const branchOperations: {
  readonly [N in OperationName]?: (engine: Engine, input: Input<N>) => Asked
} = {
  'environment.create': (engine, { limits, from }) =>
    from?.kind === 'snapshot'
      ? forks(engine, from.id, 1)
      : one({ ...engine.settings.limits, ...limits }),
  'environment.attach': ({ settings }, { limits }) => one({ ...settings.limits, ...limits }),
  'environment.fork': ({ store }, { id, count }) =>
    times(one(store.environments.resolve(id).limits), count),
  'snapshot.fork': (engine, { id, count }) => forks(engine, id, count),
  'environment.snapshot': () => snapshot,
  'environment.restore': () => nothing,
  'environment.promote': () => nothing,
  'environment.resume': asleep,
  'environment.wake': asleep,
}

const nothing: Asked = { environments: 0, memoryBytes: 0, diskBytes: 0 }

/** Nobody knows its size before it is taken, so it needs any room at all. */
const snapshot: Asked = { ...nothing, diskBytes: 1 }

/** What is released or dead has given its memory back, but not its files. */
const holding: ReadonlySet<EnvironmentStatus> = new Set(['running', 'paused'])

function asleep({ store }: Engine, { id }: Input<'environment.resume'>): Asked {
  const { status, limits } = store.environments.resolve(id)
  return holding.has(status) ? nothing : { ...nothing, memoryBytes: one(limits).memoryBytes }
}

function forks({ store }: Engine, reference: string, count: number): Asked {
  return times(one(store.snapshots.resolve(reference).origin.limits), count)
}

const everything = Number.POSITIVE_INFINITY

function one({ memoryBytes = everything, diskBytes = everything }: Limits): Asked {
  return { environments: 1, memoryBytes, diskBytes }
}

function times(asked: Asked, count: number): Asked {
  return sumOf(Array.from({ length: count }, () => asked))
}

function sumOf(all: readonly Asked[]): Asked {
  return all.reduce(
    (sum, each) => ({
      environments: sum.environments + each.environments,
      memoryBytes: sum.memoryBytes + each.memoryBytes,
      diskBytes: sum.diskBytes + each.diskBytes,
    }),
    nothing,
  )
}

const free: Disposable = { [Symbol.dispose]: () => {} }

/** Whoever names no principal: the program that has the engine open. */
const self = 'this process'

interface UnderWay extends Asked {
  readonly principal: string
}

export function admission(engine: () => Engine, atOnce: number | null): Admission {
  const queue: FairQueue | null = atOnce === null ? null : fairQueue(atOnce)
  /** what was admitted and may not be in the store yet */
  const underWay = new Set<UnderWay>()
  return {
    enter: async (name, input, { principal = self, signal }) => {
      const ask = branchOperations[name]
      if (ask === undefined) return free
      const turn = (await queue?.enter(principal, signal)) ?? free
      try {
        const asked = { ...ask(engine(), input), principal }
        await admit(engine(), asked, underWay)
        return endingBoth(turn, () => underWay.delete(asked))
      } catch (error) {
        turn[Symbol.dispose]()
        throw error
      }
    },
    get waiting() {
      return queue?.waiting ?? 0
    },
  }
}

function endingBoth(turn: Disposable, end: () => void): Disposable {
  return {
    [Symbol.dispose]: () => {
      end()
      turn[Symbol.dispose]()
    },
  }
}

/** Adds it to what is under way, or throws what is scarce. */
async function admit(engine: Engine, asked: UnderWay, underWay: Set<UnderWay>): Promise<void> {
  const { home, admission: limits } = engine.settings
  const { each, environments, memoryBytes, diskBytes } = limits
  if (diskBytes !== null) await requireDisk(home, diskBytes)
  const together: Share = { environments, memoryBytes, diskBytes: null }
  const bounds = [together, each].flatMap((share) => Object.values(share))
  if (bounds.every((bound) => bound === null)) return
  // From here on nothing is awaited, so that two do not take the same room.
  const all: Bound = { whose: 'everybody together', settings: 'admission', limits: together }
  const own: Bound = { whose: asked.principal, settings: 'admission.each', limits: each }
  const excess = (bound: Bound, counts: (owner: string) => boolean) =>
    whyRefused(asked, taken(engine, underWay, bound.limits, counts), bound)
  const why = excess(all, () => true) ?? excess(own, (owner) => owner === asked.principal)
  if (why !== null) throw why
  underWay.add(asked)
}

async function requireDisk(home: string, neededBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(home)
  const freeBytes = bavail * bsize
  if (freeBytes < neededBytes) throw diskRefused(home, freeBytes, neededBytes)
}

/** What the owners that count have. Environments that are being made are under way, and not counted twice. */
function taken(
  { store }: Engine,
  underWay: ReadonlySet<UnderWay>,
  { diskBytes }: Share,
  counts: (owner: string) => boolean,
): Asked {
  const owned = ({ principal = self }: { readonly principal?: string }) => counts(principal)
  const made = store.environments.list().filter(({ status }) => status !== 'creating')
  const present = made.filter(owned).map(({ status, limits }) => {
    const promised = one(limits)
    return holding.has(status) ? promised : { ...promised, memoryBytes: 0 }
  })
  // There may be thousands, so they are only read for somebody who limits them.
  const sealed = diskBytes === null ? [] : store.snapshots.list().filter(owned)
  const kept = sealed.map(({ sizes }) => ({ ...nothing, diskBytes: bytesOf(sizes) }))
  return sumOf([...present, ...kept, ...[...underWay].filter(owned)])
}

/** What is not counted yet follows within seconds. */
function bytesOf({ filesBytes, imagesBytes, squashed = {} }: SnapshotSizes): number {
  const copies = Object.values(squashed).reduce((sum, bytes) => sum + bytes, 0)
  return (filesBytes ?? 0) + imagesBytes + copies
}
