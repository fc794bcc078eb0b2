import { mkdir, open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { quiesce } from '../../agent/environment.ts'
import { greeted } from '../../agent/wire/connect.ts'
import { AgentConnection } from '../../agent/wire/connection.ts'
import { removeTree } from '../../linux/files/remove-tree.ts'
import { killPoint } from '../../linux/kill-points.ts'
import { noteUses } from '../../linux/lives/shared-uses.ts'
import { isAlive } from '../../linux/process-identity.ts'
import { stopwatch } from '../../linux/stopwatch.ts'
import { BackendError } from '../../model/errors.ts'
import type { SnapshotId } from '../../model/ids.ts'
import { type Captured, capturable } from '../../model/snapshot.ts'
import type { CaptureOptions, CaptureResult, Ref } from '../backend.ts'
import type { Gvisor } from './gvisor.ts'
import { type Adopted, fromRecord, toImageRecord, usesOf } from './instance.ts'
import type { LifePlaces } from './places.ts'
import { relaysInside, stateOf } from './processes.ts'
import { connectThrough } from './relay.ts'

/** How long relays may take to end once the agent has closed their connections. */
const mostLooks = 40
const pauseMs = 5

/** Takes files and processes in one image: what is written inside is in the sandbox's memory. */
export async function capture(
  gvisor: Gvisor,
  { id, instance }: Ref,
  draft: SnapshotId,
  { mode, after }: CaptureOptions,
): Promise<CaptureResult> {
  const { slot, root, agent, adopted } = fromRecord(instance)
  const life = gvisor.places.life(id, slot)
  const images = gvisor.places.snapshot(draft)
  const watch = stopwatch()
  const wasPaused = (await stateOf(gvisor, life)).status === 'paused'
  await mkdir(images, { recursive: true, mode: 0o700 })
  // For a full snapshot, the engine has closed them.
  if (mode === 'filesystem') await closeConnections(gvisor, life, wasPaused ? 'paused' : 'running')
  const frozenAt = performance.now()
  await watch.measure('freeze', () => pauseWithoutRelays(gvisor, life))
  killPoint('snapshot:frozen')
  await watch.measure('checkpoint', () => checkpoint(gvisor, life, images))
  await noteUses(images, usesOf({ root, agent }))
  killPoint('snapshot:dumped')
  const staysFrozen = after === 'stay-frozen' || wasPaused
  if (!staysFrozen) await watch.measure('thaw', () => resume(gvisor, life))
  const thawedAt = performance.now()
  killPoint('snapshot:thawed')
  const sizes = await watch.measure('flush', () => flush(images))
  const captured = capturedOf(mode, adopted)
  return {
    image: toImageRecord({ captured, root, agent, ...(adopted && { adopted }) }),
    captured,
    original: after === 'stay-frozen' ? 'stays-frozen' : 'runs',
    durable: true,
    // They are in the same image as the memory.
    filesBytes: 0,
    imagesBytes: sizes.allBytes,
    memory:
      mode === 'full'
        ? { mode: 'copy', sharedBytes: 0, copiedBytes: sizes.pagesBytes, processes: [] }
        : null,
    frozenAt,
    thawedAt: after === 'stay-frozen' ? null : thawedAt,
    phases: watch.phases,
  }
}

/** A restore ends what `runsc exec` has started: in a copy of a container, the agent and its shells. */
function capturedOf(
  mode: CaptureOptions['mode'],
  adopted: Adopted | undefined,
): readonly Captured[] {
  if (mode === 'filesystem') return ['filesystem']
  return adopted === undefined ? capturable : ['filesystem', 'processes']
}

/**
 * An open relay would make an image that cannot be restored. While a sandbox is paused none can start, so that is when
 * we look.
 */
async function pauseWithoutRelays(gvisor: Gvisor, life: LifePlaces): Promise<void> {
  for (let looks = 1; ; looks += 1) {
    await pause(gvisor, life)
    const relays = await relaysInside(gvisor, life)
    if (relays.length === 0) return
    await resume(gvisor, life)
    if (looks === mostLooks) throw stillConnected(life, relays.length)
    await sleep(pauseMs)
  }
}

/** A paused agent cannot close anything, so a paused environment runs for a moment. */
async function closeConnections(
  gvisor: Gvisor,
  life: LifePlaces,
  was: 'paused' | 'running',
): Promise<void> {
  if (was === 'paused') await resume(gvisor, life)
  await using connection = new AgentConnection(connectThrough(gvisor, life))
  await greeted(connection)
  await quiesce(connection)
}

function stillConnected({ container }: LifePlaces, count: number): BackendError {
  return new BackendError(`${container} has ${count} open connections from the host`, {
    temporary: true,
    remedy:
      'try again; if it fails again, end the commands and terminals that other processes watch',
  })
}

async function checkpoint(
  { runsc, tools }: Gvisor,
  { container }: LifePlaces,
  images: string,
): Promise<void> {
  // runsc wants an empty directory; a failed attempt may have left files.
  await removeTree(tools, images)
  await mkdir(images, { mode: 0o700 })
  const options = ['--leave-running', '--compression', 'none', '--image-path', images]
  await runsc.ask(`checkpointing ${container}`, 'checkpoint', ...options, container)
}

/** Makes the images durable; returns their sizes. */
async function flush(images: string): Promise<{ allBytes: number; pagesBytes: number }> {
  let allBytes = 0
  let pagesBytes = 0
  for (const name of await readdir(images)) {
    const path = join(images, name)
    const { size } = await stat(path)
    allBytes += size
    if (name === 'pages.img') pagesBytes = size
    await sync(path)
  }
  await sync(images)
  return { allBytes, pagesBytes }
}

async function sync(path: string): Promise<void> {
  await using file = await open(path)
  await file.sync()
}

export async function pause({ runsc }: Gvisor, { container }: LifePlaces): Promise<void> {
  await runsc.ask(`pausing ${container}`, 'pause', container)
}

export async function resume({ runsc }: Gvisor, { container }: LifePlaces): Promise<void> {
  await runsc.ask(`resuming ${container}`, 'resume', container)
}

/** Undoes a capture: the environment runs, and what was taken is gone. */
export async function abandon(gvisor: Gvisor, ref: Ref | null, draft: SnapshotId): Promise<void> {
  const { places, tools } = gvisor
  if (ref !== null) {
    const { slot, process } = fromRecord(ref.instance)
    const life = places.life(ref.id, slot)
    const isPaused = isAlive(process) && (await stateOf(gvisor, life)).status === 'paused'
    if (isPaused) await resume(gvisor, life)
  }
  await removeTree(tools, places.snapshot(draft))
}
