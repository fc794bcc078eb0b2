import { setTimeout as sleep } from 'node:timers/promises'
import { isUnderPressure, type MemoryReading, readMemory } from '../../linux/memory-pressure.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { OwnedSpare, SpareFilter } from '../../store/spares.ts'
import type { Engine } from '../engine.ts'
import { isBusy } from '../recovery/busy.ts'
import { discardSpare } from './discard.ts'
import { makeSpare } from './make.ts'
import { enqueue, isMet, surplus, type Want } from './wants.ts'

/** Prepares likely next branches while this process has nothing else to do. */
export interface Spares {
  want(wants: readonly Want[]): void
  /** The end of what is being made at this moment, if it is such a one. */
  underWay(which: SpareFilter): Promise<void> | undefined
  /** Resolves when nothing is being prepared, and nothing waits to be. */
  settled(): Promise<void>
  /** Ends those that this engine made. */
  close(): Promise<void>
}

export interface KeeperOptions {
  /** `prepared`: as a process that lives on; `borrowed`: only what others have prepared is used */
  readonly spares?: 'prepared' | 'borrowed'
  /** how scarce memory is; the default asks the kernel */
  readonly readMemory?: () => MemoryReading
}

/** After the last operation, as the next one must not meet the work for a spare. */
const idleMs = 20
const lookAtMemoryEveryMs = 1000

export function keepSpares(engine: () => Engine, options: KeeperOptions): Spares {
  const isPressed = () => isUnderPressure((options.readMemory ?? readMemory)())
  const own = new Set<string>()
  /** images of environments whose spares do not fit, so that none is made in vain again */
  const tooLarge = new Map<EnvironmentId, number>()
  let queue: Want[] = []
  let current: { readonly want: Want; readonly done: Promise<void> } | null = null
  let timer: NodeJS.Timeout | undefined
  let guard: NodeJS.Timeout | undefined
  let isOpen = true

  const ownSpares = (): OwnedSpare[] =>
    own.size === 0
      ? []
      : engine()
          .store.spares.list()
          .filter(({ id }) => own.has(id))

  const discard = async (spares: readonly OwnedSpare[]): Promise<void> => {
    for (const spare of spares) {
      await discardSpare(engine(), spare)
      own.delete(spare.id)
    }
  }

  const isOversized = ({ snapshot }: Want): boolean => {
    const record = engine().store.snapshots.get(snapshot)
    const known = record && tooLarge.get(record.environmentId)
    return (record?.sizes.imagesBytes ?? 0) > (known ?? Number.POSITIVE_INFINITY) / 2
  }

  const make = async (want: Want): Promise<void> => {
    const { settings, store } = engine()
    if (isPressed() || isOversized(want) || isMet(want, store.spares.list())) return
    const { count, memoryBytes } = settings.spares
    await discard(surplus(ownSpares(), { count: count - 1, memoryBytes }))
    const id = await makeSpare(engine(), want)
    if (id === null) return
    own.add(id)
    watchMemory()
    const made = store.spares.get(id)
    if (made && made.memoryBytes > memoryBytes) {
      const snapshot = store.snapshots.get(want.snapshot)
      if (snapshot) tooLarge.set(snapshot.environmentId, snapshot.sizes.imagesBytes)
    }
    await discard(surplus(ownSpares(), { count, memoryBytes }))
  }

  const step = (): void => {
    timer = undefined
    const [want, ...rest] = queue
    if (want === undefined || current !== null || !isOpen) return
    if (isBusy(engine().store)) {
      schedule()
      return
    }
    queue = rest
    const done = make(want)
      .catch(() => {})
      .then(() => {
        current = null
        if (timer === undefined) step()
      })
    current = { want, done }
  }

  const schedule = (): void => {
    clearTimeout(timer)
    timer = setTimeout(step, idleMs).unref()
  }

  const watchMemory = (): void => {
    guard ??= setInterval(() => {
      if (isPressed()) engine().background.start(discard(ownSpares()))
    }, lookAtMemoryEveryMs).unref()
  }

  return {
    want: (wants) => {
      const { count } = engine().settings.spares
      if (!isOpen || count === 0 || options.spares === 'borrowed') return
      queue = enqueue(queue, wants, count)
      schedule()
    },
    underWay: ({ kind, snapshot, environmentId }) => {
      const want = current?.want
      if (want?.kind !== kind || want?.snapshot !== snapshot) return undefined
      return want?.kind === 'fork' || want?.environmentId === environmentId
        ? current?.done
        : undefined
    },
    settled: async () => {
      while (isOpen && (queue.length > 0 || current !== null)) {
        await (current?.done ?? sleep(idleMs))
      }
    },
    close: async () => {
      if (!isOpen) return
      isOpen = false
      clearTimeout(timer)
      clearInterval(guard)
      await current?.done
      // What cannot be ended is a life that nobody knows: the next process ends it.
      await Promise.allSettled(ownSpares().map((spare) => discard([spare])))
    },
  }
}
