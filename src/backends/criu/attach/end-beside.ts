import { setTimeout as sleep } from 'node:timers/promises'
import { immortal, namedProcesses } from '../../../linux/lives/named-processes.ts'
import { treeOf } from '../../../linux/process-tree.ts'
import { patience } from '../../../model/values/patience.ts'
import type { LifePlaces } from '../places.ts'

const longestSeconds = 10
const pauseMs = 5

/** Ends an agent that was brought to a process, and everything that it started. */
export async function endBeside(what: string, { socket }: LifePlaces): Promise<void> {
  const deadline = performance.now() + patience(longestSeconds)
  for (;;) {
    const agents = namedProcesses([socket])
    if (agents.length === 0) return
    const all = agents.flatMap(({ pid }) => treeOf(pid))
    if (performance.now() > deadline) throw immortal(what, all)
    // The agent adopts orphans, so nothing escapes as long as it is the last to end.
    const below = all.filter((pid) => !agents.some((agent) => agent.pid === pid))
    for (const pid of below.length > 0 ? below : all) kill(pid)
    await sleep(pauseMs)
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
