import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ifExists } from '../../../linux/files/if-exists.ts'
import { readFile, writeFile } from '../../../linux/files/quick-fs.ts'
import type { Limits } from '../../../model/environment.ts'
import { PrerequisiteError } from '../../../model/errors.ts'
import { type Mount, mountUnder } from '../overlay/volumes/mount-table.ts'
import { cgroupAt, writeLimit } from './cgroup.ts'
import type { CgroupLayout } from './cgroup-layout.ts'

const v1Files = {
  read: 'blkio.throttle.read_bps_device',
  write: 'blkio.throttle.write_bps_device',
} as const
const v2File = 'io.max'
const limitFiles = [v1Files.read, v1Files.write, v2File]

/**
 * Limits how fast the processes of one life may read from the disks below `paths`, and write to them. The
 * kernel limits each disk by itself. Comes after the start: the cell and CRIU read and write there, too.
 */
export async function limitIo(
  layout: CgroupLayout,
  key: string,
  group: string,
  { limits, paths }: { readonly limits: Limits; readonly paths: readonly string[] },
): Promise<void> {
  const at = layout.controllers.get('io')
  if (!at) throw noController()
  const dir = cgroupAt(at.mount, key, group)
  for (const disk of await disksUnder(paths)) {
    for (const [file, text] of at.version === 1 ? linesV1(disk, limits) : linesV2(disk, limits)) {
      await writeLimit(join(dir, file), text)
    }
  }
}

function linesV1(disk: string, { ioReadBytes, ioWriteBytes }: Limits): [string, string][] {
  const lines: [string, string][] = []
  if (ioReadBytes !== undefined) lines.push([v1Files.read, `${disk} ${ioReadBytes}`])
  if (ioWriteBytes !== undefined) lines.push([v1Files.write, `${disk} ${ioWriteBytes}`])
  return lines
}

function linesV2(disk: string, { ioReadBytes, ioWriteBytes }: Limits): [string, string][] {
  const read = ioReadBytes === undefined ? '' : ` rbps=${ioReadBytes}`
  const write = ioWriteBytes === undefined ? '' : ` wbps=${ioWriteBytes}`
  return [[v2File, `${disk}${read}${write}`]]
}

/**
 * Lets everything that waits for its turn go ahead, because a process that waits for a slow disk can be
 * neither frozen nor killed. Resolves to what sets the limits again.
 */
export async function liftIoLimits(groups: readonly string[]): Promise<() => Promise<void>> {
  const lifted: { readonly path: string; readonly line: string }[] = []
  const paths = groups.flatMap((dir) => limitFiles.map((file) => join(dir, file)))
  // Most do not exist, and a failed read costs far more than this question.
  for (const path of paths.filter((each) => existsSync(each))) {
    const text = ifExists(() => readFileSync(path, 'utf8')) ?? ''
    const none = basename(path) === v2File ? 'rbps=max wbps=max' : '0'
    for (const [line, disk] of text.matchAll(/^(\d+:\d+) .*$/gm)) {
      await writeUnlessGone(path, `${disk} ${none}`)
      lifted.push({ path, line })
    }
  }
  return async () => {
    for (const { path, line } of lifted) await writeUnlessGone(path, line)
  }
}

/** Does `work` while nothing that the processes of a life have asked their disks for must wait. */
export async function withoutIoLimits<T>(
  groups: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const limitAgain = await liftIoLimits(groups)
  try {
    return await work()
  } finally {
    await limitAgain()
  }
}

/** A disk that no longer exists limits nothing, nor does a group. */
async function writeUnlessGone(path: string, line: string): Promise<void> {
  await writeFile(path, line).catch(() => {})
}

/** The numbers of the whole disks that hold these paths. */
async function disksUnder(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const table = await readFile('/proc/self/mountinfo', 'utf8')
  const disks = new Set<string>()
  for (const path of paths) {
    const mount = mountUnder(table, path)
    const disk = mount && (await diskOf(mount))
    if (disk) disks.add(disk)
  }
  if (disks.size > 0) return disks
  throw new PrerequisiteError(`there is no disk to limit below ${paths.join(', ')}`, {
    remedy: 'put the home on a file system of a disk, or set no limits on reads and writes',
  })
}

/** Null if its file system has no disk, such as that of a network or of memory. */
async function diskOf({ device, source }: Mount): Promise<string | null> {
  const number = numberOf(source) ?? device
  const block = ifExists(() => realpathSync(`/sys/dev/block/${number}`))
  if (block === null) return null
  // The kernel refuses limits for a partition.
  const disk = existsSync(join(block, 'partition')) ? dirname(block) : block
  return (await readFile(join(disk, 'dev'), 'utf8')).trim()
}

/** A btrfs has a device number that belongs to no disk, so what it was mounted from counts. */
function numberOf(source: string): string | null {
  const stats = basename(source) === source ? null : ifExists(() => statSync(source))
  if (!stats?.isBlockDevice()) return null
  const major = (stats.rdev >> 8) & 0xfff
  const minor = (stats.rdev & 0xff) | ((stats.rdev >> 12) & 0xfff00)
  return `${major}:${minor}`
}

function noController(): PrerequisiteError {
  return new PrerequisiteError('this machine has no cgroup controller for reads and writes', {
    remedy: 'enable the io controller (blkio in cgroup v1), or set no limits on reads and writes',
  })
}
