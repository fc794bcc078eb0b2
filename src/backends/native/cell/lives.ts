import { readdir, rmdir } from 'node:fs/promises'
import { killPoint } from '../../../linux/kill-points.ts'
import { isAlive } from '../../../linux/process-identity.ts'
import { removeTree } from '../../../linux/remove-tree.ts'
import type { Instance } from '../../../model/environment.ts'
import { type EnvironmentId, isEnvironmentId } from '../../../model/ids.ts'
import type { Remnant } from '../../backend.ts'
import { fromRecord } from '../instance.ts'
import type { Native } from '../native.ts'
import { givenLinks } from '../network/given-links.ts'
import { connectAgain, disconnect, forget, interfaceName } from '../network/nat.ts'
import { slotOfCgroup } from '../places.ts'
import { cgroupNames, removeCgroups } from './cgroup.ts'
import { giveBackIds } from './id-ranges.ts'

/** Ends one life of an environment. */
export async function endSlot(native: Native, id: EnvironmentId, slot: number): Promise<void> {
  const { dir } = native.places.slot(id, slot)
  await removeCgroups(native.cgroups(id, slot))
  giveBackIds(dir)
  await removeTree(dir)
  // Fails as long as another life has a directory there.
  await rmdir(native.places.env(id)).catch(() => {})
}

/** Ends all of them but one, which has the network link again. */
export async function retire(
  native: Native,
  id: EnvironmentId,
  keep: Instance | null,
): Promise<void> {
  const kept = keep && fromRecord(keep)
  for (const slot of await slotsOf(native, id)) {
    if (slot !== kept?.slot) await endSlot(native, id, slot)
  }
  if (kept === null) await removeTree(native.places.env(id))
  else if (kept.net && isAlive(kept.process)) await connectAgain(kept.net, kept.process.pid)
}

/** Removes all that is or may be there under this id. */
export async function destroy(native: Native, id: EnvironmentId): Promise<void> {
  const { nat, places } = native
  const slots = await slotsOf(native, id)
  for (const slot of slots) {
    await removeCgroups(native.cgroups(id, slot))
    giveBackIds(places.slot(id, slot).dir)
  }
  killPoint('remove:processes')
  const links = givenLinks(places, id)
  if (links.length > 0) {
    const iface = interfaceName(nat, id)
    await forget(nat, iface, [...new Set(links.flatMap((link) => link.allow))])
    await disconnect(iface, links)
  }
  killPoint('remove:network')
  await removeTree(places.env(id))
  killPoint('remove:directories')
}

/** The lives of an environment that have a directory or a cgroup. */
async function slotsOf({ places, layout }: Native, id: EnvironmentId): Promise<number[]> {
  const names = await readdir(places.env(id)).catch(() => [])
  const groups = (await cgroupNames(layout, places.key)).map(slotOfCgroup)
  const slots = groups.filter((group) => group?.id === id).map((group) => group?.slot ?? 0)
  return [...new Set([...names.map(Number), ...slots])].filter(Number.isSafeInteger)
}

/** What is there of any environment, known or not. */
export async function remnants(native: Native): Promise<Remnant[]> {
  const { places, layout } = native
  const found = (await cgroupNames(layout, places.key)).flatMap((name) => slotOfCgroup(name) ?? [])
  for (const id of await readdir(places.envs).catch(() => [])) {
    if (!isEnvironmentId(id)) continue
    const slots = await readdir(places.env(id)).catch(() => [])
    found.push(...(slots.length > 0 ? slots : ['0']).map((slot) => ({ id, slot: Number(slot) })))
  }
  return found.map(({ id, slot }) => ({
    id,
    isPartOf: (instance) => fromRecord(instance).slot === slot,
    end: () => endSlot(native, id, slot),
  }))
}
