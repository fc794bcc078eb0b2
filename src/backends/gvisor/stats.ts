import { readFileSync } from 'node:fs'
import * as z from 'zod/mini'
import { BackendError } from '../../model/errors.ts'
import type { InstanceStats, Ref } from '../backend.ts'
import type { Gvisor } from './gvisor.ts'
import { fromRecord } from './instance.ts'
import { processesInside } from './processes.ts'

/** What `runsc usage --full` prints, in bytes. */
const usageSchema = z.object({ Total: z.number(), Tmpfs: z.number() })

export async function readStats(gvisor: Gvisor, { id, instance }: Ref): Promise<InstanceStats> {
  const { slot, process } = fromRecord(instance)
  const life = gvisor.places.life(id, slot)
  const text = await gvisor.runsc.ask(
    `measuring ${life.container}`,
    ...['usage', '--full', life.container],
  )
  const { Total: bytes, Tmpfs: written } = usageSchema.parse(JSON.parse(text))
  return {
    memoryBytes: bytes,
    memory: { privateBytes: bytes, sharedBytes: 0, totalBytes: bytes },
    memoryLimitBytes: null,
    cpuMs: cpuOf(process.pid),
    processes: (await processesInside(gvisor, life)).filter(
      ({ parent, pid }) => parent > 0 || pid === 1,
    ).length,
    processLimit: null,
    terminals: null,
    // Everything that was written since the environment was created is in the sandbox's memory.
    diskBytes: written,
    diskUsedBytes: null,
    diskLimitBytes: null,
  }
}

/** A clock tick of /proc, as on every machine that Linux runs on. */
const tickMs = 10

/** The CPU time of the sandbox's process and its threads. */
function cpuOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(fields[11]) + Number(fields[12])
  if (Number.isFinite(ticks)) return ticks * tickMs
  throw new BackendError(`/proc/${pid}/stat is not readable`, { remedy: 'try again' })
}
