import { setTimeout as sleep } from 'node:timers/promises'
import { runTool } from '../run-tool.ts'

/** The prefix of the names and cgroups of all containers of a run. */
export function containersOf(run: number): string {
  return `forkpoint-bench-${run}`
}

/** Container engines leave the parent groups of their containers behind, and their monitors end later. */
export async function removeCgroups(name: string): Promise<void> {
  const below = ['/sys/fs/cgroup', '-mindepth', '1', '-path', `*/${name}*`, '-depth', '-type', 'd']
  for (let tries = 0; tries < 20; tries += 1) {
    await runTool('find', [...below, '-exec', 'rmdir', '--ignore-fail-on-non-empty', '{}', ';'])
    if ((await runTool('find', below)).stdout === '') return
    await sleep(50)
  }
}
