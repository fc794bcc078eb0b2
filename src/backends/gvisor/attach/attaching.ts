import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from '../../../linux/files/remove-tree.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import { withShared } from '../../../linux/lives/free-shared.ts'
import { agentCopy } from '../../../linux/lives/shared-directories.ts'
import type { Instance } from '../../../model/environment.ts'
import { ConflictError } from '../../../model/errors.ts'
import type { Attaching, AttachSpec } from '../../facets.ts'
import type { Gvisor } from '../gvisor.ts'
import { type Base, fromRecord } from '../instance.ts'
import { endLife } from '../lives.ts'
import { findRunsc } from '../runsc.ts'
import { begin, start } from '../starting.ts'
import { type Foreign, findForeign, findTarget } from './target.ts'

/** A container of runsc can be copied into a sandbox of ours, so no life of it is foreign. */
export function gvisorAttaching(gvisor: Gvisor): Attaching {
  return {
    find: async (target) => {
      findRunsc(gvisor.runscPlace)
      return findTarget(gvisor, target)
    },
    attach: (spec, signal) => attach(gvisor, spec, signal),
    keyOf: () => null,
    lacks: (instance) => (fromRecord(instance).adopted === undefined ? [] : ['terminal']),
  }
}

/** Checkpoints the container, which continues, and restores that as a sandbox of ours. */
async function attach(
  gvisor: Gvisor,
  { id, identity, target }: AttachSpec,
  signal?: AbortSignal,
): Promise<Instance> {
  const foreign = findForeign(gvisor, target.name)
  if (findTarget(gvisor, target.name).key !== target.key) {
    throw new ConflictError(`${target.name} was started again meanwhile`, {
      remedy: 'attach again',
    })
  }
  const { life, base } = await withShared(gvisor, 'attach', async () => {
    const { root, adopted } = foreign
    const made: Base = { root, adopted, agent: await agentCopy(gvisor.places.shared) }
    signal?.throwIfAborted()
    return { life: await begin(gvisor, id, made), base: made }
  })
  killPoint('attach:noted')
  const images = join(gvisor.places.life(id, life.slot).dir, 'adopted')
  try {
    await mkdir(images, { mode: 0o700 })
    await checkpoint(gvisor, foreign, images)
    killPoint('attach:brought')
    const instance = await start(gvisor, life, base, identity, (bundle) => [
      ...['restore', '--detach', '--image-path', images],
      ...bundle,
    ])
    killPoint('attach:alive')
    await removeTree(gvisor.tools, images)
    return instance
  } catch (error) {
    await endLife(gvisor, life)
    throw error
  }
}

/** It stands still for as long as that takes. */
async function checkpoint(
  { tools, runscPlace }: Gvisor,
  { directory, id }: Foreign,
  images: string,
): Promise<void> {
  const options = ['--leave-running', '--compression', 'none', '--image-path', images]
  await tools.mustRun(`checkpointing ${id}`, findRunsc(runscPlace), [
    ...['--root', directory, '--network=none', 'checkpoint', ...options, id],
  ])
}
