import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ifThere } from '../../../linux/if-there.ts'
import { processesIn } from '../../../linux/processes-in.ts'
import { runCell } from '../../../linux/run-cell.ts'
import type { Native } from '../native.ts'
import { ensureNat } from '../network/nat.ts'
import { cgroupDirs } from './cgroup.ts'
import { limitRunning } from './devices.ts'

/**
 * Puts the walls of this version around environments that run since before it. Every command does so,
 * hence it is some looks where there is nothing to do.
 */
export async function harden(native: Native): Promise<void> {
  const { layout, places } = native
  const older = await limitRunning(layout, places.key)
  for (const name of older) {
    const [first = ''] = cgroupDirs(layout, places.key, name)
    await maskCell(processesIn(first))
  }
  await renewRules(native)
}

/** Any process of a cell will do: none has mounts of its own. One that ends meanwhile sees nothing more. */
async function maskCell([pid]: readonly number[]): Promise<void> {
  if (pid === undefined) return
  await runCell('hiding kernel interfaces', ['mask', String(pid)]).catch(() => {})
}

/** To be counted up with a change of the rules in nat.ts. */
const rulesVersion = 1

/** The rules are looked at once after each start of the machine: that takes a process. */
async function renewRules({ exclusively, nat, places, settings }: Native): Promise<void> {
  if (!readdirSync('/sys/class/net').some((name) => name.startsWith(nat.prefix))) return
  const marker = join(places.data, 'nat-rules')
  const current = `${rulesVersion} ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')}`
  if (ifThere(() => readFileSync(marker, 'utf8')) === current) return
  await exclusively('net', 'renewing rules', () => ensureNat(nat, settings.net.pool))
  writeFileSync(marker, current)
}
