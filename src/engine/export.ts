import { chmod, chown, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { BackendFiles, CopyReport, CopySpec, View } from '../backends/backend.ts'
import { ConflictError } from '../model/errors.ts'
import { quote } from '../model/quote.ts'
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
  const place = resolve(target)
  await requireFree(place)
  const draft = await mkdtemp(join(dirname(place), `.${basename(place)}.forkpoint-`)).catch(
    (cause) => {
      throw hostFailure(`cannot make ${quote(place)}`, cause)
    },
  )
  try {
    const owner = options.owner === 'keep' ? 'keep' : callerOwner()
    const report = await fill(files, source, draft, owner, options.paths)
    await rename(draft, place)
    return report
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw hostFailure(`cannot export to ${quote(place)}`, error)
  }
}

/** An empty directory will do: it is replaced. */
async function requireFree(place: string): Promise<void> {
  const entries = await readdir(place).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? [] : null,
  )
  if (entries?.length === 0) return
  throw new ConflictError(`${quote(place)} is already there`, {
    remedy: 'name a directory that does not exist, or use apply to change one that does',
  })
}

async function fill(
  files: BackendFiles,
  { view, workdir }: { readonly view: View; readonly workdir: string },
  draft: string,
  owner: { readonly uid: number; readonly gid: number } | 'keep',
  paths: readonly string[] | undefined,
): Promise<CopyReport> {
  if (!paths) return files.copyOut(view, draft, [{ from: workdir, to: '' }], { owner })
  const specs = paths.map((path): CopySpec => ({ from: path, to: belowRoot(path) }))
  const report = await files.copyOut(view, draft, specs, { owner })
  if (specs.some(({ to }) => to === '')) return report
  if (owner !== 'keep') await chown(draft, owner.uid, owner.gid)
  await chmod(draft, 0o755)
  return report
}

function belowRoot(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
}
