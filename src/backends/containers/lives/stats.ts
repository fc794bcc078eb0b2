import * as z from 'zod/mini'
import { BackendError } from '../../../model/errors.ts'
import type { InstanceStats, Ref } from '../../backend.ts'
import { path } from '../engine/client.ts'
import { inspectContainer } from '../engine/containers.ts'
import { lifeOf } from '../instance.ts'
import type { Room } from '../room.ts'

const count = z.nullish(z.number())

const statsSchema = z.object({
  memory_stats: z.nullish(
    z.object({
      usage: count,
      // By version of the kernel's cgroups: `anon` in the second, `rss` in the first.
      stats: z.nullish(z.looseObject({ anon: count, total_rss: count, rss: count })),
    }),
  ),
  cpu_stats: z.object({ cpu_usage: z.object({ total_usage: z.number() }) }),
  pids_stats: z.nullish(z.object({ current: count })),
})

/** As the engine counts. It does not say which memory is shared. */
export async function readStats(room: Room, { id, instance }: Ref): Promise<InstanceStats> {
  const client = room.client()
  const { container } = lifeOf(instance)
  const [found, stats] = await Promise.all([
    inspectContainer(client, container, { size: 1 }),
    client.json(statsSchema, {
      method: 'GET',
      path: path`/containers/${container}/stats`,
      query: { stream: 'false', 'one-shot': 'true' },
    }),
  ])
  if (found === null) {
    throw new BackendError(`the container of ${id} is gone`, {
      remedy: 'bring the environment back from its last snapshot with `forkpoint resume`',
    })
  }
  const used = stats.memory_stats?.usage ?? 0
  const kinds = stats.memory_stats?.stats
  const anonymous = kinds?.anon ?? kinds?.total_rss ?? kinds?.rss ?? used
  return {
    memoryBytes: used,
    memory: { privateBytes: anonymous, sharedBytes: 0, totalBytes: Math.max(anonymous, used) },
    memoryLimitBytes: found.HostConfig.Memory || null,
    cpuMs: stats.cpu_stats.cpu_usage.total_usage / 1e6,
    processes: stats.pids_stats?.current ?? 0,
    processLimit: limitOf(found.HostConfig.PidsLimit),
    terminals: null,
    diskBytes: found.SizeRw ?? 0,
    diskUsedBytes: found.SizeRw ?? null,
    diskLimitBytes: null,
  }
}

/** Engines write 0 or -1 for "no limit". */
function limitOf(pids: number | null | undefined): number | null {
  return pids && pids > 0 ? pids : null
}
