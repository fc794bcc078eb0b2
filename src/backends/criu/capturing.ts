import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { quiesce } from '../../agent/environment.ts'
import { greeted } from '../../agent/wire/connect.ts'
import { AgentConnection } from '../../agent/wire/connection.ts'
import { openAgentSocket } from '../../agent/wire/socket.ts'
import { criuFailure } from '../../criu/criu-failure.ts'
import { removeTree } from '../../linux/files/remove-tree.ts'
import { killPoint } from '../../linux/kill-points.ts'
import { namedProcessesEnd } from '../../linux/lives/named-processes.ts'
import { noteUses } from '../../linux/lives/shared-uses.ts'
import { isAlive } from '../../linux/process-identity.ts'
import { stopwatch } from '../../linux/stopwatch.ts'
import type { SnapshotId } from '../../model/ids.ts'
import { type Captured, capturable } from '../../model/snapshot.ts'
import type { CaptureOptions, CaptureResult, Ref } from '../backend.ts'
import { type CriuInstance, fromRecord, toImageRecord } from './instance.ts'
import { continueProcesses } from './namespace.ts'
import type { LifePlaces, SnapshotPlaces } from './places.ts'
import type { Plain } from './plain.ts'

/** The agent's pid inside: see native/cell/plain/plain.c. */
const agent = '2'
export const largestGhost = String(64 * 1024 ** 2)

/** Of dumps and restores. Their CRIU is in the same namespaces, so there are none to dump. */
export const commonOptions: readonly string[] = [
  '--file-locks',
  '--tcp-established',
  '--manage-cgroups=ignore',
  '-v1',
]

/** Dumps the processes, and copies their directory while none of them runs. */
export async function capture(
  plain: Plain,
  { id, instance }: Ref,
  draft: SnapshotId,
  { mode, after }: CaptureOptions,
): Promise<CaptureResult> {
  const lived = fromRecord(instance)
  const life = plain.places.life(id, lived.slot)
  const to = plain.places.snapshot(draft)
  const watch = stopwatch()
  await prepareCopy(life.files, to)
  await noteUses(to.dir, [lived.agent])
  // For a full snapshot, the engine has closed them.
  if (mode === 'filesystem') await closeConnections(life, lived)
  const frozenAt = performance.now()
  await watch.measure('dump', () => dump(plain, lived, to, after))
  const thawedAt = after === 'stay-frozen' ? null : performance.now()
  killPoint('snapshot:dumped')
  if (mode === 'filesystem') await removeTree(plain.tools, to.images)
  await watch.measure('flush', () => plain.tools.mustRun('flushing', 'sync', ['-f', to.dir]))
  const captured: readonly Captured[] = mode === 'full' ? capturable : ['filesystem']
  const images = mode === 'full' ? await imageSizes(to.images) : { allBytes: 0, pagesBytes: 0 }
  return {
    image: toImageRecord({ captured, workdir: lived.workdir, agent: lived.agent }),
    captured,
    original: after === 'stay-frozen' ? 'stays-frozen' : 'runs',
    durable: true,
    filesBytes: await bytesBelow(plain, to.files),
    imagesBytes: images.allBytes,
    memory:
      mode === 'full'
        ? { mode: 'copy', sharedBytes: 0, copiedBytes: images.pagesBytes, processes: [] }
        : null,
    frozenAt,
    thawedAt,
    phases: watch.phases,
  }
}

/** CRIU calls the script at every step. After the dump, everything is still stopped. */
export async function prepareCopy(files: string, to: SnapshotPlaces): Promise<void> {
  await mkdir(to.images, { recursive: true, mode: 0o700 })
  const copy = ['cp', '-aT', '--reflink=auto', '--', quoted(files), quoted(to.files)].join(' ')
  const script = `#!/bin/sh\n[ "$CRTOOLS_SCRIPT_ACTION" = post-dump ] || exit 0\nexec ${copy}\n`
  await writeFile(to.script, script)
  await chmod(to.script, 0o700)
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

async function dump(
  { criu, tools, logs }: Plain,
  { process }: CriuInstance,
  { images, script }: SnapshotPlaces,
  after: CaptureOptions['after'],
): Promise<void> {
  const enter = ['--target', String(process.pid), '--pid', '--mount', '--net', '--uts', '--ipc']
  const { exitCode, stderr } = await tools.run('nsenter', [
    ...[...enter, '--', ...criu(), 'dump', '--tree', agent, '--images-dir', images],
    ...[...commonOptions, '--network-lock', 'skip', '--ghost-limit', largestGhost],
    // Such names are in the copy only: CRIU removes them before the processes continue.
    ...['--link-remap', '--action-script', script, '--log-file', 'dump.log'],
    after === 'stay-frozen' ? '--leave-stopped' : '--leave-running',
  ])
  if (exitCode !== 0) throw await criuFailure('dump', join(images, 'dump.log'), stderr, logs)
}

async function closeConnections({ socket: path }: LifePlaces, life: CriuInstance): Promise<void> {
  await using connection = new AgentConnection(await openAgentSocket(path, life.socket))
  await greeted(connection)
  await quiesce(connection)
}

export async function imageSizes(
  images: string,
): Promise<{ allBytes: number; pagesBytes: number }> {
  let allBytes = 0
  let pagesBytes = 0
  for (const name of await readdir(images)) {
    const { size } = await stat(join(images, name))
    allBytes += size
    if (name.startsWith('pages-')) pagesBytes += size
  }
  return { allBytes, pagesBytes }
}

export async function bytesBelow({ tools }: Plain, dir: string): Promise<number> {
  const text = await tools.mustRun(`measuring ${dir}`, 'du', ['-s', '--block-size=1', '--', dir])
  return Number.parseInt(text, 10)
}

/** Undoes a capture: the environment runs, and what was taken is gone. */
export async function abandon(plain: Plain, ref: Ref | null, draft: SnapshotId): Promise<void> {
  const { dir, images } = plain.places.snapshot(draft)
  // A dump that outlived its caller still has its code in the processes.
  await namedProcessesEnd(`the dump of ${draft}`, ['dump', images])
  if (ref !== null) {
    const { process, foreign } = fromRecord(ref.instance)
    // CRIU never leaves an attached process stopped, and nobody else's stop is ours to end.
    if (foreign === undefined && isAlive(process)) continueProcesses(process.pid)
  }
  await removeTree(plain.tools, dir)
}
