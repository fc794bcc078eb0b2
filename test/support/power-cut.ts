import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmdirSync } from 'node:fs'
import { expect } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import type { Environment } from '../../src/index.ts'
import { agentPid, cgroupsOf, hostPids } from './cell-processes.ts'
import { patiently } from './patiently.ts'
import type { TestHome } from './test-home.ts'

/** Removes what does not survive a reboot. These are all environments that run; the home is not open. */
export async function powerCut(
  home: TestHome,
  environments: readonly Environment[],
): Promise<void> {
  for (const env of environments) {
    const cgroups = cgroupsOf(home, env)
    process.kill(agentPid(home, env), 'SIGKILL')
    await expect.poll(() => hostPids(home, env), patiently).toEqual([])
    for (const dir of cgroups) if (existsSync(dir)) rmdirSync(dir)
  }
  const { data, files } = placesOf(home.path)
  for (const path of [files, data]) if (isMounted(path)) execFileSync('umount', [path])
}

function isMounted(path: string): boolean {
  return readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${path} `)
}
