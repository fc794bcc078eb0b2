import { statfs } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../../../api/handles/environment.ts'

/** Long enough for the clock of CPU time, which ticks in units of at most 10 ms. */
const windowMs = 100

/** The present, measured over a moment: nobody keeps the past. */
export async function metricsOf(sandbox: Environment): Promise<readonly object[]> {
  if (sandbox.lastInfo.status !== 'running') return []
  const [before, began] = [await sandbox.stats(), performance.now()]
  await sleep(windowMs)
  const stats = await sandbox.stats()
  const cpuCount = sandbox.lastInfo.limits.cpus ?? availableParallelism()
  const usedMs = stats.cpuMs - before.cpuMs
  const now = Date.now()
  return [
    {
      timestamp: new Date(now).toISOString(),
      timestampUnix: Math.floor(now / 1000),
      cpuCount,
      cpuUsedPct: Math.max(0, (100 * usedMs) / (performance.now() - began)),
      memUsed: stats.memoryBytes,
      memTotal: stats.memoryLimitBytes ?? totalmem(),
      memCache: Math.max(0, stats.memoryBytes - stats.memory.privateBytes),
      diskUsed: stats.diskUsedBytes ?? stats.diskBytes,
      diskTotal: stats.diskLimitBytes ?? (await diskBytes()),
    },
  ]
}

async function diskBytes(): Promise<number> {
  const { blocks, bsize } = await statfs('/')
  return blocks * bsize
}
