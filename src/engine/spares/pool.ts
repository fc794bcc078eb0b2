import { setTimeout as sleep } from 'node:timers/promises'
import { isUnderPressure, type MemoryReading, readMemory } from '../../linux/memory-pressure.ts'
import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'
import type { OwnedSpare, SpareFilter } from '../../store/spares.ts'
import type { Engine } from '../engine.ts'
import { tryReserveCopy } from '../memory/copy-memory.ts'
import { leastBytes } from '../memory/fitting.ts'
import { isBusy } from '../recovery/busy.ts'
import { discardSpare } from './discard.ts'
import { makeSpare, proveWithoutSpare } from './make.ts'
import { enqueue, isMet, surplus, type Want } from './wants.ts'

/** Prepares likely next branches while this process has nothing else to do. */
export interface SparePool {
  want(wants: readonly Want[]): void
  /** Resolves when the spare being made now is done, if it is one of these. */
  underWay(which: SpareFilter): Promise<void> | undefined
  /** Resolves when the spare being made now is done, if it is made from this snapshot. */
  underWayFrom(snapshot: SnapshotId): Promise<void> | undefined
  /** Resolves when nothing is being prepared or waiting. */
  settled(): Promise<void>
  /** Ends the spares that this engine made. */
  close(): Promise<void>
}

export interface SpareOptions {
  /** `prepared`: makes its own, for a process that keeps running; `borrowed`: only uses those of others */
  readonly spares?: 'prepared' | 'borrowed'
  /** reads how scarce memory is; asks the kernel by default */
  readonly readMemory?: () => MemoryReading
}

/** The pause after the last operation, so that the next one does not compete with a spare. */
const idleMs = 20
const memoryPollMs = 1000

export function sparePool(engine: () => Engine, options: SpareOptions): SparePool {
  return new Pool(engine, options)
}

/** Makes one spare at a time, and none while an operation is running. */
class Pool implements SparePool {
  readonly #engine: () => Engine
  readonly #options: SpareOptions
  readonly #own = new Set<string>()
  /** the image sizes of environments whose spares do not fit, so that we do not try in vain again */
  readonly #tooLarge = new Map<EnvironmentId, number>()
  #queue: Want[] = []
  /** those that there was no memory for; tried again later */
  #postponed: Want[] = []
  #current: { readonly want: Want; readonly done: Promise<void> } | null = null
  #timer: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  #guard: NodeJS.Timeout | undefined
  #isOpen = true

  constructor(engine: () => Engine, options: SpareOptions) {
    this.#engine = engine
    this.#options = options
  }

  want(wants: readonly Want[]): void {
    const { count } = this.#engine().settings.spares
    if (!this.#isOpen || count === 0 || this.#options.spares === 'borrowed') return
    this.#queue = enqueue(this.#queue, wants, count)
    this.#schedule()
  }

  underWay({ kind, snapshot, environmentId }: SpareFilter): Promise<void> | undefined {
    if (this.#current === null) return undefined
    const { want, done } = this.#current
    if (want.kind !== kind || want.snapshot !== snapshot) return undefined
    return want.kind === 'fork' || want.environmentId === environmentId ? done : undefined
  }

  underWayFrom(snapshot: SnapshotId): Promise<void> | undefined {
    return this.#current?.want.snapshot === snapshot ? this.#current.done : undefined
  }

  async settled(): Promise<void> {
    while (this.#isOpen && (this.#queue.length > 0 || this.#current !== null)) {
      await (this.#current?.done ?? sleep(idleMs))
    }
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    clearTimeout(this.#timer)
    clearTimeout(this.#retry)
    clearInterval(this.#guard)
    await this.#current?.done
    const ended = await Promise.allSettled(this.#spares().map((spare) => this.#discard([spare])))
    // One that cannot be ended is a life without a record, so the next process ends it.
    for (const each of ended) {
      if (each.status === 'fulfilled') continue
      this.#engine().log.warn({ err: each.reason }, 'a spare could not be ended')
    }
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#step(), idleMs).unref()
  }

  #step(): void {
    this.#timer = undefined
    const [want, ...rest] = this.#queue
    if (want === undefined || this.#current !== null || !this.#isOpen) return
    if (isBusy(this.#engine().store)) {
      this.#schedule()
      return
    }
    this.#queue = rest
    const done = this.#make(want)
      .catch((err) => this.#engine().log.warn({ err, ...want }, 'preparing a spare failed'))
      .then(() => {
        this.#current = null
        if (this.#timer === undefined) this.#step()
      })
    this.#current = { want, done }
  }

  async #make(want: Want): Promise<void> {
    const { settings, store } = this.#engine()
    const { count, memoryBytes } = settings.spares
    const snapshot = store.snapshots.get(want.snapshot)
    if (!snapshot || this.#isOversized(want) || isMet(want, store.spares.list())) return
    using memory = this.#isMemoryScarce() ? null : tryReserveCopy(this.#engine(), snapshot)
    if (memory === null) return this.#postpone(want)
    const left = memoryBytes - leastBytes(snapshot)
    if (left < 0) return await proveWithoutSpare(this.#engine(), snapshot, memory)
    await this.#discard(surplus(this.#spares(), { count: count - 1, memoryBytes: left }))
    const id = await makeSpare(this.#engine(), want, memory)
    if (id === null) return
    this.#own.add(id)
    this.#watchMemory()
    this.#noteSize(id, want)
    await this.#discard(surplus(this.#spares(), { count, memoryBytes }))
  }

  #postpone(want: Want): void {
    const { count } = this.#engine().settings.spares
    this.#postponed = enqueue(this.#postponed, [want], count)
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined
      this.#queue = enqueue(this.#postponed, this.#queue, count)
      this.#postponed = []
      this.#schedule()
    }, memoryPollMs).unref()
  }

  #noteSize(id: string, want: Want): void {
    const { settings, store } = this.#engine()
    const snapshot = store.snapshots.get(want.snapshot)
    const { memoryBytes = 0 } = store.spares.get(id) ?? {}
    if (!snapshot || memoryBytes <= settings.spares.memoryBytes) return
    this.#tooLarge.set(snapshot.environmentId, snapshot.sizes.imagesBytes)
  }

  #isOversized({ snapshot }: Want): boolean {
    const record = this.#engine().store.snapshots.get(snapshot)
    const known = record && this.#tooLarge.get(record.environmentId)
    return (record?.sizes.imagesBytes ?? 0) > (known ?? Number.POSITIVE_INFINITY) / 2
  }

  #isMemoryScarce(): boolean {
    return isUnderPressure((this.#options.readMemory ?? readMemory)())
  }

  #watchMemory(): void {
    this.#guard ??= setInterval(() => {
      if (this.#isMemoryScarce()) this.#engine().background.start(this.#discard(this.#spares()))
    }, memoryPollMs).unref()
  }

  #spares(): OwnedSpare[] {
    if (this.#own.size === 0) return []
    const all = this.#engine().store.spares.list()
    return all.filter(({ id }) => this.#own.has(id))
  }

  async #discard(spares: readonly OwnedSpare[]): Promise<void> {
    for (const spare of spares) {
      await discardSpare(this.#engine(), spare)
      this.#own.delete(spare.id)
    }
  }
}
