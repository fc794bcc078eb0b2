import { rmdir } from 'node:fs/promises'
import { namesIn } from '../../../linux/files/names-in.ts'
import { removeTree } from '../../../linux/files/remove-tree.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import { isAlive } from '../../../linux/process-identity.ts'
import type { Instance } from '../../../model/environment.ts'
import { type EnvironmentId, isEnvironmentId } from '../../../model/ids.ts'
import type { Remnant } from '../../backend.ts'
import { fromRecord } from '../instance.ts'
import type { Native } from '../native.ts'
import { unlink } from '../network/link.ts'
import { reconnect } from '../network/nat.ts'
import { deleteSubvolumes } from '../overlay/subvolumes/subvolumes.ts'
import { slotOfCgroup } from '../places.ts'
import { forgetWaits } from '../snapshot/continue-original.ts'
import { cgroupNames, removeCgroups } from './cgroup.ts'
import { freeIds } from './id-ranges.ts'
import { liftIoLimits } from './io-limits.ts'

/** Ends one life of an environment. */
export async function endSlot(native: Native, id: EnvironmentId, slot: number): Promise<void> {
  const { dir } = native.places.slot(id, slot)
  await endProcesses(native, id, slot)
  freeIds(dir)
  await deleteSubvolumes(native.tools, [native.places.filesOf(id, slot)])
  await removeTree(native.tools, dir)
  // Fails while another life has a directory there, and then it must stay.
  await rmdir(native.places.env(id)).catch(() => {})
}

async function endProcesses(native: Native, id: EnvironmentId, slot: number): Promise<void> {
  const groups = native.cgroups(id, slot)
  await forgetWaits(native, groups)
  await liftIoLimits(groups)
  await removeCgroups(groups)
}

/** Ends all lives except one, which gets the network link back. */
export async function retire(
  native: Native,
  id: EnvironmentId,
  keep: Instance | null,
): Promise<void> {
  const kept = keep && fromRecord(keep)
  for (const slot of await slotsOf(native, id)) {
    if (slot !== kept?.slot) await endSlot(native, id, slot)
  }
  if (kept === null) await removeTree(native.tools, native.places.env(id))
  else if (kept.net && isAlive(kept.process))
    await reconnect(native.tools, kept.net, kept.process.pid)
}

/** Removes everything that exists under this id. */
export async function destroy(native: Native, id: EnvironmentId): Promise<void> {
  const { places, tools } = native
  const slots = await slotsOf(native, id)
  for (const slot of slots) {
    await endProcesses(native, id, slot)
    freeIds(places.slot(id, slot).dir)
  }
  killPoint('remove:processes')
  await unlink(native, id)
  killPoint('remove:network')
  await deleteSubvolumes(
    tools,
    slots.map((slot) => places.filesOf(id, slot)),
  )
  await removeTree(native.tools, places.env(id))
  killPoint('remove:directories')
}

/** The lives of an environment that have a directory or a cgroup. */
async function slotsOf({ places, layout }: Native, id: EnvironmentId): Promise<number[]> {
  const names = namesIn(places.env(id))
  const groups = (await cgroupNames(layout, places.key)).map(slotOfCgroup)
  const slots = groups.filter((group) => group?.id === id).map((group) => group?.slot ?? 0)
  return [...new Set([...names.map(Number), ...slots])].filter(Number.isSafeInteger)
}

/** Everything found of any environment, whether or not there is a record of it. */
export async function remnants(native: Native): Promise<Remnant[]> {
  const { places, layout } = native
  const found = (await cgroupNames(layout, places.key)).flatMap((name) => slotOfCgroup(name) ?? [])
  for (const id of namesIn(places.envs)) {
    if (!isEnvironmentId(id)) continue
    const slots = namesIn(places.env(id))
    found.push(...(slots.length > 0 ? slots : ['0']).map((slot) => ({ id, slot: Number(slot) })))
  }
  return found.map(({ id, slot }) => ({
    id,
    isPartOf: (instance) => fromRecord(instance).slot === slot,
    end: () => endSlot(native, id, slot),
  }))
}
