// Every test run gets its own Forkpoint home, and must leave nothing of it
// behind: no process, mount, loop device, cgroup or network interface.
import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  describeLeftover,
  findLeftovers,
  type Leftover,
  removeHomeFurniture,
  removeLeftovers,
} from './leftovers.ts'

/** Outside /tmp, which is often a tmpfs: layers and images are written here. */
const homePrefix = '/var/tmp/forkpoint-test-'

export default async function setup(): Promise<() => Promise<void>> {
  await removeHomesOfKilledRuns()
  process.env.FORKPOINT_RUNTIME ??= '/var/lib/forkpoint-runtime'
  const home = mkdtempSync(`${homePrefix}${process.pid}-`)
  process.env.FORKPOINT_HOME = home
  // Its name begins as that of the home does, so that the next run removes it if this one is killed.
  process.env.FORKPOINT_TEST_PROJECT = `${home}-project`
  // Hundreds of processes run the same sources: compiling them is most of what each does at first.
  process.env.NODE_COMPILE_CACHE = join(home, 'compiled')

  return async function teardown() {
    for (const end of ['', '.draft', '.lock']) {
      rmSync(`${home}-project${end}`, { recursive: true, force: true })
    }
    const leftovers = await settledLeftovers(home)
    const stuck = await removeHome(home, leftovers)
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

/** A killed run has not cleaned up; its pid is in the name of its home. */
async function removeHomesOfKilledRuns(): Promise<void> {
  const parent = dirname(homePrefix)
  for (const entry of readdirSync(parent, { withFileTypes: true })) {
    const home = join(parent, entry.name)
    const pid = home.startsWith(homePrefix) && /^\d+/.exec(home.slice(homePrefix.length))?.[0]
    if (!pid || existsSync(`/proc/${pid}`)) continue
    console.log(`removing ${home}: the run that made it was killed`)
    // Beside the home may be the lock of the project that the run made.
    if (!entry.isDirectory()) {
      rmSync(home, { force: true })
      continue
    }
    const stuck = await removeHome(home, findLeftovers(home))
    for (const line of stuck) console.log(`  ${line}`)
  }
}

/** Returns what could not be removed; then the directory stays, too. */
async function removeHome(home: string, leftovers: Leftover[]): Promise<string[]> {
  const stuck = await removeLeftovers(leftovers)
  if (stuck.length > 0) return stuck
  removeHomeFurniture(home)
  rmSync(home, { recursive: true, force: true })
  return []
}

const patienceMs = 5_000

/** A spawner ends when it notices that its process has ended, which takes a moment. */
async function settledLeftovers(home: string): Promise<Leftover[]> {
  for (const deadline = Date.now() + patienceMs; ; await sleep(50)) {
    const leftovers = findLeftovers(home)
    if (leftovers.every(({ kind }) => kind !== 'process') || Date.now() > deadline) return leftovers
  }
}

/** Vitest prints a teardown error where it is easily missed; scripts/test repeats it at the end. */
function noteForClosingLines(report: string[]): void {
  const file = process.env.FORKPOINT_TEST_LEFTOVERS
  if (file !== undefined) appendFileSync(file, `${report.join('\n')}\n`)
}
