import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { killPoint } from '../../linux/kill-points.ts'
import { withShared } from '../../linux/lives/free-shared.ts'
import { type LifeName, takeLife } from '../../linux/lives/life-directories.ts'
import { noteUses } from '../../linux/lives/shared-uses.ts'
import { identify } from '../../linux/process-identity.ts'
import type { Instance } from '../../model/environment.ts'
import { BackendError } from '../../model/errors.ts'
import type { CreateSpec, Identity, MaterializeSpec } from '../backend.ts'
import { startAgent } from './attach/start-agent.ts'
import { baseOf, mountRoot } from './base.ts'
import { bundleConfig } from './bundle.ts'
import type { Gvisor } from './gvisor.ts'
import { noteIdentity, tellIdentity } from './identity.ts'
import { type Base, imageOf, toRecord, usesOf } from './instance.ts'
import { endLife } from './lives.ts'
import type { LifePlaces } from './places.ts'
import { endProcesses, stateOf } from './processes.ts'

export async function create(
  gvisor: Gvisor,
  spec: CreateSpec,
  signal?: AbortSignal,
): Promise<Instance> {
  const { id, identity } = spec
  const { life, base } = await withShared(gvisor, 'create', async () => {
    const made = await baseOf(gvisor, spec)
    signal?.throwIfAborted()
    return { life: await begin(gvisor, id, made), base: made }
  })
  killPoint('launch:directories')
  return await start(gvisor, life, base, identity, (bundle) => ['run', '--detach', ...bundle])
}

export async function materialize(
  gvisor: Gvisor,
  { id, snapshot, identity }: MaterializeSpec,
): Promise<Instance> {
  const { captured, ...base } = imageOf(snapshot)
  const images = gvisor.places.snapshot(snapshot.id)
  const life = await begin(gvisor, id, base)
  const made = await start(gvisor, life, base, identity, (bundle) => [
    ...['restore', '--detach', '--image-path', images],
    ...bundle,
  ])
  try {
    // A checkpoint always has the processes.
    if (!captured.includes('processes'))
      await endProcesses(gvisor, gvisor.places.life(id, life.slot))
    return made
  } catch (error) {
    await endLife(gvisor, life)
    throw error
  }
}

/** Takes a directory for a life, and notes there which shared files it needs. */
export async function begin({ places }: Gvisor, id: LifeName['id'], base: Base): Promise<LifeName> {
  const name = await takeLife(places.envs, id)
  await noteUses(places.life(id, name.slot).dir, usesOf(base))
  return name
}

/** Starts a sandbox with `verb`, and leaves nothing behind if that fails. */
export async function start(
  gvisor: Gvisor,
  name: LifeName,
  base: Base,
  identity: Identity,
  verb: (bundle: readonly string[]) => readonly string[],
): Promise<Instance> {
  const life = gvisor.places.life(name.id, name.slot)
  try {
    const { root, agent, adopted } = base
    await prepare(gvisor, life, bundleConfig(base, life, identity.hostname))
    await noteIdentity(life, identity)
    await gvisor.runsc.start(life, {
      prepare: mountRoot(base, life),
      words: verb(['--bundle', life.bundle, life.container]),
      writes: adopted?.writes ?? 'memory',
    })
    killPoint('launch:alive')
    const { pid } = await stateOf(gvisor, life)
    const process = identify(pid)
    if (process === undefined) throw ended(life)
    if (adopted !== undefined) await startAgent(gvisor, life, adopted)
    await tellIdentity(gvisor, life)
    const kept = adopted && { adopted }
    return toRecord({ kind: 'gvisor', slot: name.slot, process, root, agent, ...kept })
  } catch (error) {
    await endLife(gvisor, name)
    throw error
  }
}

async function prepare({ places }: Gvisor, life: LifePlaces, config: object): Promise<void> {
  await mkdir(places.run, { recursive: true, mode: 0o711 })
  await mkdir(life.bundle)
  await mkdir(life.root)
  await mkdir(life.layer)
  await mkdir(life.writes)
  await writeFile(join(life.bundle, 'config.json'), JSON.stringify(config))
}

function ended({ container }: LifePlaces): BackendError {
  return new BackendError(`the sandbox ${container} ended as soon as it was started`, {
    remedy: 'run `forkpoint doctor`, which starts and checkpoints a sandbox',
  })
}
