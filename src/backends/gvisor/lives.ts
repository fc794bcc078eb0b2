import { rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../../linux/files/names-in.ts'
import { pathExists } from '../../linux/files/path-exists.ts'
import { removeTree } from '../../linux/files/remove-tree.ts'
import { freeShared } from '../../linux/lives/free-shared.ts'
import { type LifeName, livesIn } from '../../linux/lives/life-directories.ts'
import { endNamedProcesses } from '../../linux/lives/named-processes.ts'
import type { Instance } from '../../model/environment.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Remnant } from '../backend.ts'
import type { Gvisor } from './gvisor.ts'
import { fromRecord } from './instance.ts'
import type { LifePlaces } from './places.ts'

/** Ends one life, whatever step it was left at. Does not ask runsc, which waits for others to reap its processes. */
export async function endLife(gvisor: Gvisor, { id, slot }: LifeName): Promise<void> {
  const { places, tools } = gvisor
  const life = places.life(id, slot)
  // Each of its processes has our directory and the container's name among its arguments, in one of two forms.
  await endNamedProcesses(life.container, [`--root=${places.run}`, life.container])
  await endNamedProcesses(life.container, [places.run, life.container])
  for (const name of namesIn(places.run).filter((name) => isStateOf(name, life))) {
    await removeTree(tools, join(places.run, name))
  }
  await removeTree(tools, life.dir)
  try {
    rmdirSync(places.env(id))
  } catch {
    // Another life has a directory there, and then it must stay.
  }
}

/** runsc names its files after the container: ID_sandbox:ID.state, .lock, and a socket runsc-ID.sock. */
function isStateOf(name: string, { container }: LifePlaces): boolean {
  return name.startsWith(`${container}_`) || name === `runsc-${container}.sock`
}

/** Ends every life of an environment except one. */
export async function retire(
  gvisor: Gvisor,
  id: EnvironmentId,
  keep: Instance | null,
): Promise<void> {
  const kept = keep && fromRecord(keep).slot
  for (const life of livesIn(gvisor.places.envs, id)) {
    if (life.slot !== kept) await endLife(gvisor, life)
  }
}

export async function destroy(gvisor: Gvisor, id: EnvironmentId): Promise<void> {
  // The engine also asks backends that never had it.
  if (!(await pathExists(gvisor.places.env(id)))) return
  await retire(gvisor, id, null)
  await removeTree(gvisor.tools, gvisor.places.env(id))
  await freeShared(gvisor)
}

export function remnants(gvisor: Gvisor): Remnant[] {
  return livesIn(gvisor.places.envs).map((life) => ({
    id: life.id,
    isPartOf: (instance) => fromRecord(instance).slot === life.slot,
    end: () => endLife(gvisor, life),
  }))
}
