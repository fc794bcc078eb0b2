import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ifExists } from '../../../linux/files/if-exists.ts'
import { processesIn } from '../../../linux/processes-in.ts'
import type { Native } from '../native.ts'
import { ensureRules } from '../network/link.ts'
import { cgroupDirs } from './cgroup.ts'
import { limitRunning } from './devices.ts'

/**
 * Isolates environments that an earlier version started as well as this version does. Every command calls
 * this, so it must be cheap if there is nothing to do.
 */
export async function harden(native: Native): Promise<void> {
  const { layout, places } = native
  const older = await limitRunning(native)
  for (const name of older) {
    const [first] = cgroupDirs(layout, places.key, name)
    await maskCell(native, processesIn(first))
  }
  await renewRules(native)
}

/** Any process of a cell will do, because all share its mounts. */
async function maskCell({ tools, log }: Native, [pid]: readonly number[]): Promise<void> {
  if (pid === undefined) return
  try {
    await tools.runCell('hiding kernel interfaces', ['mask', String(pid)])
  } catch (err) {
    log.warn(
      { err, pid },
      'kernel interfaces stay visible in an environment from an earlier version',
    )
  }
}

/** Increase this whenever the rules in nat.ts change. */
const rulesVersion = 2

/** Checks the rules once after each boot, because that has to start a process. */
async function renewRules(native: Native): Promise<void> {
  const { exclusively, nat, places } = native
  if (!readdirSync('/sys/class/net').some((name) => name.startsWith(nat.prefix))) return
  const marker = join(places.data, 'nat-rules')
  const current = `${rulesVersion} ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')}`
  if (ifExists(() => readFileSync(marker, 'utf8')) === current) return
  await exclusively('net', 'renewing rules', () => ensureRules(native))
  writeFileSync(marker, current)
}
