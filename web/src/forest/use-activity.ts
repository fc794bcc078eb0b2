import type { Client, Input } from 'forkpoint/client'
import { useEffect, useRef, useState } from 'react'

/** How busy an environment is, as seen from outside. */
export interface Activity {
  readonly processes: number
  /** screens inside; null: nobody can tell */
  readonly terminals: number | null
  /** CPUs in use since the measurement before */
  readonly cpus: number
  /** of its memory and of the files that it has changed: what no snapshot has */
  readonly ownBytes: number
  /** of its memory that is mapped from snapshots */
  readonly sharedBytes: number
}

type Id = Input<'environment.stats'>['id']

interface Measured {
  readonly at: number
  readonly cpuMs: number
}

/** Between two measurements, so that a full screen of environments costs the daemon little. */
const pauseMs = 200
/** An agent and a shell: nobody works there. */
export const idleProcesses = 2

/**
 * Measures the environments in sight, one after the other, again and again. It looks from outside, so that it neither
 * wakes them nor counts as using them.
 */
export function useActivity(client: Client, ids: readonly Id[]): ReadonlyMap<string, Activity> {
  const [activity, setActivity] = useState<ReadonlyMap<string, Activity>>(new Map())
  const measured = useRef(new Map<string, Measured>())
  const inSight = ids.join()
  useEffect(() => {
    const all = inSight === '' ? [] : (inSight.split(',') as Id[])
    const leaving = new AbortController()
    void measureAll(client, all, measured.current, leaving.signal, (id, next) =>
      setActivity((before) => (isSame(before.get(id), next) ? before : changed(before, id, next))),
    )
    return () => leaving.abort()
  }, [client, inSight])
  return activity
}

async function measureAll(
  client: Client,
  ids: readonly Id[],
  measured: Map<string, Measured>,
  signal: AbortSignal,
  onMeasured: (id: Id, activity: Activity) => void,
): Promise<void> {
  for (let turn = 0; ids.length > 0 && !signal.aborted; turn += 1) {
    const id = ids[turn % ids.length]
    if (id !== undefined && !document.hidden) {
      try {
        const stats = await client.call('environment.stats', { id }, { signal })
        const { cpuMs, processes, terminals } = stats
        const now = { at: performance.now(), cpuMs }
        const { privateBytes, sharedBytes } = stats.memory
        const ownBytes = privateBytes + stats.diskBytes
        const cpus = rate(measured.get(id), now)
        onMeasured(id, { processes, terminals, cpus, ownBytes, sharedBytes })
        measured.set(id, now)
      } catch {
        // It was paused or removed meanwhile, or the daemon is away; the tree shows it.
      }
    }
    // A few environments need no more than one look a second each.
    await new Promise((resolve) => setTimeout(resolve, Math.max(pauseMs, 1000 / ids.length)))
  }
}

function rate(before: Measured | undefined, now: Measured): number {
  if (before === undefined) return 0
  return Math.max(0, now.cpuMs - before.cpuMs) / Math.max(1, now.at - before.at)
}

function isSame(a: Activity | undefined, b: Activity): boolean {
  if (a === undefined || a.processes !== b.processes || a.terminals !== b.terminals) return false
  if (Math.abs(a.cpus - b.cpus) >= 0.05) return false
  return Math.abs(a.ownBytes - b.ownBytes) <= a.ownBytes / 50
}

function changed(before: ReadonlyMap<string, Activity>, id: string, next: Activity) {
  return new Map(before).set(id, next)
}
