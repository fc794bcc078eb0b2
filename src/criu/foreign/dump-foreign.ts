import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathExists } from '../../linux/files/path-exists.ts'
import { treeOf } from '../../linux/process-tree.ts'
import type { Tools } from '../../linux/tools.ts'
import { BackendError } from '../../model/errors.ts'
import type { Criu } from '../criu.ts'
import { criuFailure } from '../criu-failure.ts'
import type { KeptLogs } from '../kept-logs.ts'
import { runCriuInside } from './criu-inside.ts'
import { namespaceOptions } from './namespaces.ts'
import { insidePid, sessionOf } from './process.ts'

export interface ForeignDump {
  /** as the host sees it */
  readonly pid: number
  readonly images: string
  /** inodes of Unix sockets whose other ends are outside */
  readonly sockets: readonly string[]
  /** copies the files that belong to the dump, while the processes stand still */
  readonly whenStill: () => Promise<void>
}

interface Tooling {
  readonly tools: Tools
  readonly criu: Criu
  readonly logs: KeptLogs
}

/** Of dumps and restores. Connections of the original are never touched, so copies have them closed. */
export const adoptedOptions: readonly string[] = [
  '--file-locks',
  '--tcp-close',
  '--manage-cgroups=ignore',
  '-v1',
]

/** Bytes of a deleted file that is still open; larger ones are refused. */
const largestGhost = String(64 * 1024 ** 2)
const pauseMs = 2

/**
 * Dumps a process that Forkpoint did not start, with all its descendants and in its own namespaces. They
 * continue, whatever fails.
 */
export async function dumpForeign(tooling: Tooling, dump: ForeignDump): Promise<void> {
  const { tools, logs } = tooling
  const { images, whenStill } = dump
  await mkdir(images, { recursive: true, mode: 0o755 })
  const path = join(images, 'go')
  await tools.mustRun('making a FIFO', 'mkfifo', ['--mode=600', path])
  // While this is open, CRIU waits at its last step: see native/preload/foreign/hold.c.
  const go = await open(path, 'r+')
  const dumping = runDump(tooling, dump)
  let copied: PromiseSettledResult<void>
  try {
    const isStill = await stillOrEnded(join(images, 'held'), dumping)
    ;[copied] = await Promise.allSettled([isStill ? whenStill() : undefined])
  } finally {
    await go.close()
  }
  const { exitCode, stderr } = await dumping
  if (exitCode !== 0) throw await notDumped(dump, stderr, logs, treeOf(dump.pid))
  if (copied.status === 'rejected') throw copied.reason
  for (const name of ['go', 'held']) await rm(join(images, name), { recursive: true })
}

function runDump({ tools, criu }: Tooling, { pid, images, sockets }: ForeignDump) {
  const namespaces = ['--target', String(pid), ...namespaceOptions(pid)]
  const isLeader = sessionOf(pid) === insidePid(pid)
  return runCriuInside(tools, criu, { namespaces, directory: images }, [
    ...['dump', '--tree', String(insidePid(pid)), ...adoptedOptions, '--network-lock', 'skip'],
    ...['--ghost-limit', largestGhost, '--log-file', 'dump.log', '--leave-running'],
    ...(isLeader ? [] : ['--shell-job']),
    ...sockets.map((inode) => `--ext-unix-sk=${inode}`),
  ])
}

/** Whether they stand still; false if the dump ended before. */
async function stillOrEnded(held: string, dumping: Promise<unknown>): Promise<boolean> {
  let ended = false
  const end = () => {
    ended = true
  }
  dumping.then(end, end)
  while (!ended) {
    if (await pathExists(held)) return true
    await sleep(pauseMs)
  }
  return false
}

/** CRIU has named processes by their pids in their own namespace. */
async function notDumped(
  { images }: ForeignDump,
  stderr: string,
  logs: KeptLogs,
  tree: readonly number[],
): Promise<BackendError> {
  const onHost = (inside: number) => tree.find((pid) => insidePid(pid) === inside) ?? inside
  const log = join(images, 'dump.log')
  const error = await criuFailure('dump', log, stderr, logs, onHost)
  const { lastWords, logPath, message } = error
  return new BackendError(message, {
    ...{ lastWords, logPath, cause: error },
    remedy:
      'let it close what stands in the way, and attach again; `--backend criu`, `docker` or `podman` adopts it where it is',
  })
}
