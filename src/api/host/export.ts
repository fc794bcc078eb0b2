import { randomBytes } from 'node:crypto'
import { type FileHandle, lstat, mkdir, readdir, rename } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import {
  type HostPlace,
  linkRefusal,
  openDirectory,
  openHostPlace,
  within,
} from '../../agent/files/host-path.ts'
import { removeHostTree } from '../../agent/files/host-tree.ts'
import { ConflictError, PrerequisiteError } from '../../model/errors.ts'
import type { CopyReport } from '../../model/files/copy-report.ts'
import { quote } from '../../model/text/quote.ts'
import { type ReadOptions, readArchive } from './archive/read-archive.ts'
import { TreeWriter } from './archive/tree-writer.ts'
import { callerOwner } from './caller-owner.ts'
import { hostFailure } from './host-failure.ts'

export interface ExportOptions extends ReadOptions {
  /** `caller` (default): the files belong to the caller. `keep`: they keep their ids from inside */
  readonly owner?: 'caller' | 'keep'
}

/**
 * Unpacks an archive into a new directory: all of it, or nothing. Requests the archive only once the
 * target is known to be free.
 */
export async function exportArchive(
  archive: () => Promise<Readable>,
  target: string,
  options: ExportOptions = {},
): Promise<CopyReport> {
  if (options.owner === 'keep' && process.geteuid?.() !== 0) throw needsRoot()
  const path = resolve(target)
  await using place = await asExport(`cannot make ${quote(path)}`, () => openHostPlace(path))
  await requireFree(place)
  return await asExport(`cannot export to ${quote(path)}`, () =>
    throughDraft(place, async (draft) => fill(draft, await archive(), options)),
  )
}

/** Makes the directory under another name, and renames it when `work` is done. */
async function throughDraft<T>(
  { parent, name }: HostPlace,
  work: (draft: FileHandle) => Promise<T>,
): Promise<T> {
  const own = `.forkpoint-export-${randomBytes(16).toString('hex')}`
  await mkdir(within(parent, own), 0o700)
  try {
    await using draft = await openDirectory(within(parent, own))
    const result = await work(draft)
    await rename(within(parent, own), within(parent, name))
    return result
  } catch (error) {
    await removeHostTree(parent, own)
    throw error
  }
}

async function asExport<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw hostFailure(what, error)
  }
}

/** An empty directory is fine: it is replaced. */
async function requireFree({ parent, name, path }: HostPlace): Promise<void> {
  // If it cannot be read, making the directory fails and says why.
  const found = await lstat(within(parent, name)).catch(() => null)
  if (found === null) return
  if (found.isSymbolicLink()) throw await linkRefusal(path, path)
  const entries = found.isDirectory() ? await readdir(within(parent, name)) : null
  if (entries?.length === 0) return
  throw new ConflictError(`${quote(path)} already exists`, {
    remedy: 'name a directory that does not exist, or use apply to change one that does',
  })
}

async function fill(
  draft: FileHandle,
  archive: Readable,
  options: ExportOptions,
): Promise<CopyReport> {
  using tree = new TreeWriter(draft, options.owner === 'keep' ? 'keep' : callerOwner())
  const report = await readArchive(archive, (entry) => tree.write(entry), options)
  tree.finish()
  return report
}

function needsRoot(): PrerequisiteError {
  return new PrerequisiteError('only root can keep the owners that files have inside', {
    remedy: 'run it with sudo, or export without keeping owners',
  })
}
