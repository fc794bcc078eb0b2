// Every test run gets a Forkpoint home of its own, and must leave nothing of it
// behind: no process, mount, loop device, cgroup or network interface.
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import {
  describeLeftover,
  findLeftovers,
  removeHomeFurniture,
  removeLeftovers,
} from './leftovers.ts'

/** Outside /tmp, which is often a tmpfs: layers and images are written here. */
const homePrefix = '/var/tmp/forkpoint-test-'

export default function setup(): () => Promise<void> {
  const sharedHome = process.env.FORKPOINT_HOME ?? '/var/lib/forkpoint'
  process.env.FORKPOINT_RUNTIME ??= `${sharedHome}/runtime`
  const home = mkdtempSync(homePrefix)
  process.env.FORKPOINT_HOME = home

  return async function teardown() {
    const leftovers = findLeftovers(home)
    const stuck = await removeLeftovers(leftovers)
    if (stuck.length === 0) {
      removeHomeFurniture(home)
      rmSync(home, { recursive: true, force: true })
    }
    if (leftovers.length === 0) return
    const report = leftovers.map(describeLeftover)
    noteForClosingLines(report)
    throw new Error(
      [`the tests left ${leftovers.length} things behind in ${home}:`, ...report, ...stuck].join(
        '\n  ',
      ),
    )
  }
}

/** Vitest prints a teardown error in passing; scripts/test repeats it at the end. */
function noteForClosingLines(report: string[]): void {
  const file = process.env.FORKPOINT_TEST_LEFTOVERS
  if (file !== undefined) appendFileSync(file, `${report.join('\n')}\n`)
}
