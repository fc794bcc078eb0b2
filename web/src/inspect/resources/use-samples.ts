import type { Client, Input, Output } from 'forkpoint/client'
import { useEffect, useState } from 'react'

export interface Sample {
  readonly id: Input<'environment.stats'>['id']
  readonly at: number
  readonly stats: Output<'environment.stats'>
  /** CPUs in use since the sample before */
  readonly cpus: number
}

const everyMs = 1500
const kept = 80

/** Measures an environment while the page is looked at. */
export function useSamples(client: Client, id: Sample['id']): readonly Sample[] {
  const [samples, setSamples] = useState<readonly Sample[]>([])
  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    const take = async () => {
      if (document.hidden) return
      const stats = await client.call('environment.stats', { id }, { signal })
      const at = performance.now()
      setSamples((before) => [...before, next(before.at(-1), { id, at, stats })].slice(-kept))
    }
    // It may just have been paused or removed, which the tree shows.
    const tick = () => void take().catch(() => {})
    tick()
    const timer = setInterval(tick, everyMs)
    return () => {
      clearInterval(timer)
      leaving.abort()
    }
  }, [client, id])
  return samples
}

function next(before: Sample | undefined, now: Omit<Sample, 'cpus'>): Sample {
  if (before === undefined) return { ...now, cpus: 0 }
  const passedMs = Math.max(1, now.at - before.at)
  // A restore begins to count again.
  return { ...now, cpus: Math.max(0, now.stats.cpuMs - before.stats.cpuMs) / passedMs }
}
