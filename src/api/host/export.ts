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
import { ConflictError, InvalidInputError, PrerequisiteError } from '../../model/errors.ts'
import type { CopyReport } from '../../model/files/copy-report.ts'
import { quote } from '../../model/text/quote.ts'
import type { ArchiveEntry } from './archive/entries.ts'
import { type ReadOptions, readArchive } from './archive/read-archive.ts'
import { TreeWriter } from './archive/tree-writer.ts'
import { callerOwner } from './caller-owner.ts'
import { hostFailure } from './host-failure.ts'
import type { Selects } from './selection/selection.ts'

export interface ExportOptions extends ReadOptions {
  /** `caller` (default): the files belong to the caller. `keep`: they keep their ids from inside */
  readonly owner?: 'caller' | 'keep'
  /** absent: everything is copied */
  readonly selects?: Selects | undefined
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
  const skipped = new Skipped(options.selects ?? (() => true))
  const visit = async (entry: ArchiveEntry) => {
    if (!(await skipped.skips(entry))) await tree.write(entry)
  }
  const report = await readArchive(archive, visit, options)
  tree.finish()
  return skipped.without(report)
}

/** The entries of an archive that are not wanted. */
class Skipped {
  readonly #selects: Selects
  readonly #files = new Set<string>()
  #entries = 0
  #bytes = 0

  constructor(selects: Selects) {
    this.#selects = selects
  }

  /** Whether it is not wanted; if so, reads over its content. */
  async skips(entry: ArchiveEntry): Promise<boolean> {
    const { path } = entry
    if (this.#selects(path, entry.type === 'link' ? 'file' : entry.type)) {
      if (entry.type === 'link' && this.#files.has(entry.first)) throw halfExcluded(entry)
      return false
    }
    this.#entries += 1
    if (entry.type === 'file') {
      this.#bytes += entry.sizeBytes
      this.#files.add(path)
      for await (const _ of entry.content);
    }
    // Its own other names lead to the same place.
    if (entry.type === 'link' && this.#files.has(entry.first)) this.#files.add(path)
    return true
  }

  without(report: CopyReport): CopyReport {
    const { entries, bytes } = report
    return { ...report, entries: entries - this.#entries, bytes: bytes - this.#bytes }
  }
}

function halfExcluded({ path, first }: { path: string; first: string }): InvalidInputError {
  return new InvalidInputError(
    `${quote(path)} is a second name of ${quote(first)}, which is left out`,
    {
      remedy: 'leave out both of them, or neither',
    },
  )
}

function needsRoot(): PrerequisiteError {
  return new PrerequisiteError('only root can keep the owners that files have inside', {
    remedy: 'run it with sudo, or export without keeping owners',
  })
}
