import { setTimeout as sleep } from 'node:timers/promises'
import { Forkpoint } from '../../index.ts'
import { BenchHome } from '../homes/bench-home.ts'
import { BenchDaemon } from './daemon.ts'
import { idleConnections } from './idle.ts'
import { type Load, prepareLoad } from './load.ts'
import type { Tally } from './tally.ts'

export interface Served {
  readonly tally: Tally
  /** after a third of the load, and at its end */
  readonly residentBytes: readonly [number, number]
  readonly idle: { readonly bytes: number; readonly addedBytes: number }
  /** how often the daemon was killed during the load */
  readonly kills: number
  /** environments and snapshots that a client was told of, and that are gone */
  readonly lost: readonly string[]
}

const idleCount = 1000

/** The load on an engine in this process. */
export async function measureEmbedded(load: Load): Promise<Tally> {
  await using home = new BenchHome({})
  await home.openCold()
  const fp = await home.openWarm()
  const { tally, apply } = await prepareLoad(async () => fp, load)
  await apply()
  return tally
}

/** The same load through a daemon, which is killed some times meanwhile. */
export async function measureServed(load: Load, kills: number): Promise<Served> {
  await using home = new BenchHome({})
  await home.openCold()
  await using daemon = new BenchDaemon(home.path)
  await daemon.start()
  const clients: Forkpoint[] = []
  const open = async () => {
    const fp = await Forkpoint.connect({ socket: daemon.socket })
    clients.push(fp)
    return fp
  }
  const over = new AbortController()
  try {
    const { tally, apply } = await prepareLoad(open, load)
    const killing = killSometimes(daemon, load, kills, over.signal)
    const early = sleep((load.seconds * 1000) / 3).then(() => daemon.residentBytes())
    await apply()
    const residentBytes = [await early, daemon.residentBytes()] as const
    over.abort()
    const killed = await killing
    const lost = await lostOf(await open(), tally)
    const idle = await idleConnections(daemon, idleCount)
    return { tally, residentBytes, idle, kills: killed, lost }
  } finally {
    over.abort()
    await Promise.all(clients.map((fp) => fp.close()))
  }
}

/**
 * Evenly over the load, however long a start takes. The next daemon starts at once, as a supervisor would
 * start it. Resolves to how often it was killed before the load was over.
 */
async function killSometimes(
  daemon: BenchDaemon,
  { seconds }: Load,
  kills: number,
  signal: AbortSignal,
): Promise<number> {
  const began = performance.now()
  for (let i = 0; i < kills; i += 1) {
    const at = began + ((i + 1) * seconds * 1000) / (kills + 1)
    // An abort ends the pause early, and the loop with it.
    await sleep(Math.max(0, at - performance.now()), undefined, { signal }).catch(() => {})
    if (signal.aborted) return i
    await daemon.kill()
    await daemon.start()
  }
  return kills
}

async function lostOf(fp: Forkpoint, { snapshots, environments }: Tally): Promise<string[]> {
  const ready = (await fp.snapshots()).filter(({ lastInfo }) => lastInfo.status === 'ready')
  const running = (await fp.list()).filter(({ lastInfo }) => lastInfo.status === 'running')
  const there = new Set<string>([...ready, ...running].map(({ id }) => id))
  return [...snapshots, ...environments].filter((id) => !there.has(id))
}
