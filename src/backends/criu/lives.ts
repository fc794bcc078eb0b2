import { rmdirSync } from 'node:fs'
import { pathExists } from '../../linux/files/path-exists.ts'
import { removeTree } from '../../linux/files/remove-tree.ts'
import { freeShared, withShared } from '../../linux/lives/free-shared.ts'
import { type LifeName, livesIn, takeLife } from '../../linux/lives/life-directories.ts'
import { endNamedProcesses } from '../../linux/lives/named-processes.ts'
import { agentCopy } from '../../linux/lives/shared-directories.ts'
import { noteUses } from '../../linux/lives/shared-uses.ts'
import type { Instance } from '../../model/environment.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Remnant } from '../backend.ts'
import { endBeside } from './attach/end-beside.ts'
import { fromRecord } from './instance.ts'
import type { Plain } from './plain.ts'

/** Takes a directory for a life, and notes there which agent it runs. */
export async function begin(
  { places }: Plain,
  id: EnvironmentId,
  agent: string,
): Promise<LifeName> {
  const name = await takeLife(places.envs, id)
  await noteUses(places.life(id, name.slot).dir, [agent])
  return name
}

/** The same with a copy of today's agent, which nobody removes meanwhile. */
export function beginNew(
  plain: Plain,
  id: EnvironmentId,
  doing: 'create' | 'attach',
  signal: AbortSignal | undefined,
): Promise<{ name: LifeName; agent: string }> {
  return withShared(plain, doing, async () => {
    const agent = await agentCopy(plain.places.shared)
    signal?.throwIfAborted()
    return { name: await begin(plain, id, agent), agent }
  })
}

/** Ends one life, whatever step it was left at. The kernel ends all others together with process 1. */
export async function endLife({ places, tools }: Plain, { id, slot }: LifeName): Promise<void> {
  const life = places.life(id, slot)
  // Process 1 keeps the arguments of `cell plain`, which begin with these.
  await endNamedProcesses(`${id}-${slot}`, ['plain', life.files])
  await endBeside(`${id}-${slot}`, life)
  await removeTree(tools, life.dir)
  try {
    rmdirSync(places.env(id))
  } catch {
    // Another life has a directory there, and then it must stay.
  }
}

/** Ends every life of an environment except one. */
export async function retire(
  plain: Plain,
  id: EnvironmentId,
  keep: Instance | null,
): Promise<void> {
  const kept = keep && fromRecord(keep).slot
  for (const life of livesIn(plain.places.envs, id)) {
    if (life.slot !== kept) await endLife(plain, life)
  }
}

export async function destroy(plain: Plain, id: EnvironmentId): Promise<void> {
  // The engine also asks backends that never had it.
  if (!(await pathExists(plain.places.env(id)))) return
  await retire(plain, id, null)
  await removeTree(plain.tools, plain.places.env(id))
  await freeShared(plain)
}

export function remnants(plain: Plain): Remnant[] {
  return livesIn(plain.places.envs).map((life) => ({
    id: life.id,
    isPartOf: (instance) => fromRecord(instance).slot === life.slot,
    end: () => endLife(plain, life),
  }))
}
