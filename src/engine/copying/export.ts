import { randomBytes } from 'node:crypto'
import { type FileHandle, lstat, mkdir, readdir, rename } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  type HostPlace,
  linkRefusal,
  openDirectory,
  openHostPlace,
  reachable,
  within,
} from '../../agent/files/host-path.ts'
import { removeHostTree } from '../../agent/files/host-tree.ts'
import type { BackendFiles, CopyReport, CopySpec, View } from '../../backends/backend.ts'
import { ConflictError } from '../../model/errors.ts'
import { quote } from '../../model/quote.ts'
import { callerOwner } from './apply/caller-owner.ts'
import { hostFailure } from './apply/host-failure.ts'

export interface ExportOptions {
  /**
   * paths inside, which keep their whole path below the new directory; without any, the new
   * directory is the environment's working directory
   */
  readonly paths?: readonly string[]
  /** `caller` (default): everything belongs to who calls. `keep`: the ids that it has inside */
  readonly owner?: 'caller' | 'keep'
}

/** Copies files of an environment or snapshot into a new directory: all of them, or none. */
export async function exportFiles(
  files: BackendFiles,
  source: { readonly view: View; readonly workdir: string },
  target: string,
  options: ExportOptions = {},
): Promise<CopyReport> {
  const path = resolve(target)
  await using place = await asExport(`cannot make ${quote(path)}`, () => openHostPlace(path))
  await requireFree(place)
  return await asExport(`cannot export to ${quote(path)}`, () =>
    throughDraft(place, async (draft) => {
      const owner = options.owner === 'keep' ? 'keep' : callerOwner()
      return await fill(files, source, draft, owner, options.paths)
    }),
  )
}

/** Makes the directory beside its place, which it takes when `work` is done with it. */
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

/** An empty directory will do: it is replaced. */
async function requireFree({ parent, name, path }: HostPlace): Promise<void> {
  const found = await lstat(within(parent, name)).catch(() => null)
  if (found === null) return
  if (found.isSymbolicLink()) throw await linkRefusal(path, path)
  const entries = found.isDirectory() ? await readdir(within(parent, name)) : null
  if (entries?.length === 0) return
  throw new ConflictError(`${quote(path)} is already there`, {
    remedy: 'name a directory that does not exist, or use apply to change one that does',
  })
}

async function fill(
  files: BackendFiles,
  { view, workdir }: { readonly view: View; readonly workdir: string },
  draft: FileHandle,
  owner: { readonly uid: number; readonly gid: number } | 'keep',
  paths: readonly string[] | undefined,
): Promise<CopyReport> {
  const into = reachable(draft)
  if (!paths) return files.copyOut(view, into, [{ from: workdir, to: '' }], { owner })
  const specs = paths.map((path): CopySpec => ({ from: path, to: belowRoot(path) }))
  const report = await files.copyOut(view, into, specs, { owner })
  if (specs.some(({ to }) => to === '')) return report
  if (owner !== 'keep') await draft.chown(owner.uid, owner.gid)
  await draft.chmod(0o755)
  return report
}

function belowRoot(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
}
