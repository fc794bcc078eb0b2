import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { criuFailure } from '../../../criu/criu-failure.ts'
import { adoptedOptions } from '../../../criu/foreign/dump-foreign.ts'
import { leadingNowhere } from '../../../criu/foreign/leading-nowhere.ts'
import { entering } from '../../../criu/foreign/namespaces.ts'
import { outerSockets } from '../../../criu/foreign/outer-sockets.ts'
import {
  insidePid,
  requireOutside,
  requireUntraced,
  sessionOf,
} from '../../../criu/foreign/process.ts'
import { requireNoTerminal, withoutTerminal } from '../../../criu/foreign/terminals.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import { noteUses } from '../../../linux/lives/shared-uses.ts'
import type { ProcessIdentity } from '../../../linux/process-identity.ts'
import { treeOf } from '../../../linux/process-tree.ts'
import { type Stopwatch, stopwatch } from '../../../linux/stopwatch.ts'
import { BackendError } from '../../../model/errors.ts'
import type { SnapshotId } from '../../../model/ids.ts'
import type { CaptureOptions, CaptureResult, Ref } from '../../backend.ts'
import { bytesBelow, imageSizes, largestGhost, prepareCopy } from '../capturing.ts'
import { type Adopted, type CriuInstance, fromRecord, toImageRecord } from '../instance.ts'
import type { SnapshotPlaces } from '../places.ts'
import type { Plain } from '../plain.ts'
import { clocks } from './restore-adopted.ts'

type Life = CriuInstance & { readonly foreign: ProcessIdentity }

/** Dumps an attached process with all its descendants. They continue, whatever fails. */
export async function captureForeign(
  plain: Plain,
  { instance }: Ref,
  draft: SnapshotId,
  { mode }: CaptureOptions,
): Promise<CaptureResult> {
  const lived = fromRecord(instance)
  const { foreign } = lived
  if (foreign === undefined) throw new TypeError('the life is not foreign')
  const to = plain.places.snapshot(draft)
  const watch = stopwatch()
  const frozenAt = performance.now()
  const adopted =
    mode === 'full' ? await captureAll(plain, { ...lived, foreign }, to, watch) : undefined
  if (adopted === undefined) await copyFiles(plain, lived, to, watch)
  const thawedAt = performance.now()
  await noteUses(to.dir, [lived.agent])
  killPoint('snapshot:dumped')
  await watch.measure('flush', () => plain.tools.mustRun('flushing', 'sync', ['-f', to.dir]))
  const captured = adopted ? (['filesystem', 'processes'] as const) : (['filesystem'] as const)
  const images = adopted ? await imageSizes(to.images) : { allBytes: 0, pagesBytes: 0 }
  const { workdir, agent } = lived
  return {
    image: toImageRecord({ captured, workdir, agent, ...(adopted && { adopted }) }),
    captured,
    original: 'runs',
    durable: true,
    filesBytes: await bytesBelow(plain, to.files),
    imagesBytes: images.allBytes,
    memory: adopted
      ? { mode: 'copy', sharedBytes: 0, copiedBytes: images.pagesBytes, processes: [] }
      : null,
    frozenAt,
    thawedAt: adopted ? thawedAt : frozenAt,
    phases: watch.phases,
  }
}

async function captureAll(
  plain: Plain,
  { foreign, workdir }: Life,
  to: SnapshotPlaces,
  watch: Stopwatch,
): Promise<Adopted> {
  const { pid } = foreign
  const tree = treeOf(pid)
  requireOutside(pid, tree)
  requireUntraced(pid)
  requireNoTerminal(tree, `${withoutTerminal}; \`--mode filesystem\` captures only its files`)
  const session = sessionOf(pid) === insidePid(pid) ? 'leader' : 'member'
  await prepareCopy(workdir, to)
  const sockets = await outerSockets(plain.tools, tree)
  await watch.measure('dump', () => dump(plain, pid, to, { session, sockets }))
  await rename(join(to.images, clocks), join(to.dir, clocks))
  const { bootId } = foreign
  const named = sockets.map((inode) => `socket:[${inode}]`)
  return { session, nowhere: [...named, ...leadingNowhere(to.images, tree, workdir)], bootId }
}

/** Without stopping anything. */
async function copyFiles(
  { tools }: Plain,
  { workdir }: CriuInstance,
  { dir, files }: SnapshotPlaces,
  watch: Stopwatch,
): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const words = ['-aT', '--reflink=auto', '--', workdir, files]
  await watch.measure('copy', () => tools.mustRun(`copying ${workdir}`, 'cp', words))
}

/** In an environment of ours, only our own clients connect to sockets inside; here it is somebody else. */
function toldApart(error: BackendError): BackendError {
  if (!error.isTemporary) return error
  const { lastWords, logPath } = error
  return new BackendError(error.message, {
    lastWords,
    logPath,
    cause: error,
    remedy:
      'let it close its connection to the other program, such as syslog or D-Bus; `--mode filesystem` needs no dump',
  })
}

/**
 * A CRIU that is killed in the middle can leave its code in the process, which then does not continue
 * (measured: after 1 of 100 kills at random moments). We never kill it, and the kernel kills others first,
 * where it lets this root say so.
 */
const shielded = '{ echo -1000 > /proc/$$/oom_score_adj; } 2> /dev/null; exec "$@"'

/** How the tree is tied to processes outside. */
interface Outer extends Pick<Adopted, 'session'> {
  /** inodes */
  readonly sockets: readonly string[]
}

async function dump(
  { criu, tools, logs }: Plain,
  pid: number,
  { images, script }: SnapshotPlaces,
  { session, sockets }: Outer,
): Promise<void> {
  const words = [
    ...[...entering(pid), ...criu(), 'dump', '--tree', String(insidePid(pid))],
    ...['--images-dir', images, ...adoptedOptions, '--network-lock', 'skip'],
    ...['--ghost-limit', largestGhost, '--action-script', script, '--log-file', 'dump.log'],
    ...(session === 'member' ? ['--shell-job'] : []),
    ...sockets.map((inode) => `--ext-unix-sk=${inode}`),
    '--leave-running',
  ]
  const { exitCode, stderr } = await tools.run('sh', ['-c', shielded, 'sh', ...words])
  if (exitCode !== 0) {
    throw toldApart(await criuFailure('dump', join(images, 'dump.log'), stderr, logs))
  }
}
