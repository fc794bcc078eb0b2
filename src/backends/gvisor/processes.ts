import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod/mini'
import { BackendError } from '../../model/errors.ts'
import type { Gvisor } from './gvisor.ts'
import type { LifePlaces } from './places.ts'

const stateSchema = z.object({ status: z.string(), pid: z.number() })

/** What runsc says about a sandbox. */
export async function stateOf(
  { runsc }: Gvisor,
  { container }: LifePlaces,
): Promise<z.infer<typeof stateSchema>> {
  const text = await runsc.ask(`asking about ${container}`, 'state', container)
  return stateSchema.parse(JSON.parse(text))
}

export interface InsideProcess {
  readonly pid: number
  readonly parent: number
}

/** The processes inside, as runsc's table has them: UID PID PPID C TTY STIME TIME CMD. */
export async function processesInside(
  { runsc }: Gvisor,
  { container }: LifePlaces,
): Promise<InsideProcess[]> {
  const table = await runsc.ask(`listing the processes of ${container}`, 'ps', container)
  return table
    .split('\n')
    .map((line) => /^\d+\s+(\d+)\s+(\d+)\s/.exec(line))
    .flatMap((row) => (row ? [{ pid: Number(row[1]), parent: Number(row[2]) }] : []))
}

/** The first process: it never ends before its sandbox. */
const agent = 1
const mostTries = 50
const pauseMs = 10

/**
 * Processes that were started from outside: relays. A process inside whose parent ends becomes a child of the agent, so
 * none can pass for one.
 */
export async function relaysInside(gvisor: Gvisor, life: LifePlaces): Promise<InsideProcess[]> {
  const all = await processesInside(gvisor, life)
  return all.filter(({ pid, parent }) => parent === 0 && pid !== agent)
}

/** Ends everything inside but the agent. */
export async function endProcesses(gvisor: Gvisor, life: LifePlaces): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const left = (await processesInside(gvisor, life)).filter(({ pid }) => pid !== agent)
    if (left.length === 0) return
    if (tries === mostTries) {
      throw new BackendError(`processes of ${life.container} start faster than they can be ended`, {
        remedy: 'take the snapshot again when they have ended',
        detail: { left: left.length },
      })
    }
    for (const { pid } of left) await end(gvisor, life, pid)
    await sleep(pauseMs)
  }
}

async function end({ runsc }: Gvisor, { container }: LifePlaces, pid: number): Promise<void> {
  try {
    await runsc.ask(`ending process ${pid}`, 'kill', '--pid', String(pid), container, 'KILL')
  } catch {
    // It has ended by itself; otherwise the next look finds it again.
  }
}
