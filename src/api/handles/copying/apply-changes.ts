import { posix, resolve } from 'node:path'
import { InvalidInputError } from '../../../model/errors.ts'
import type { CopyProgress } from '../../../model/files/copy-report.ts'
import { quote } from '../../../model/text/quote.ts'
import type { EnvironmentInfo } from '../../contract/data/environment.ts'
import type { CallOptions, Control } from '../../control.ts'
import { copiedSource } from '../../host/apply/copied-source.ts'
import { type CopiedTree, readNote } from '../../host/apply/copied-tree.ts'
import type { ChangeSource } from '../../host/apply/source.ts'
import { type ApplyReport, applyTo } from '../../host/apply.ts'
import type { Selects } from '../../host/selection/selection.ts'
import { checked, type Given, list, options as optionsOf } from '../../inputs/checked.ts'
import { absolutePath, path as anyPath, callback, oneOf, signal } from '../../inputs/values.ts'
import type { Handles } from '../handles.ts'
import { type Directory, directoryOf, leavingOut, selectionOf } from './leaving-out.ts'

const applyInput = optionsOf({
  /**
   * the directory inside that corresponds to the one here; absent: where the one here was copied to, or else the
   * directory of a `dir:` source, or else the current directory of the shell `main`
   */
  path: absolutePath,
  /** only what changed at or below these paths, absolute inside or relative to the directory */
  paths: list('paths', anyPath),
  ...leavingOut,
  /** `plan`: only reports what it would do, with every conflict. `apply` (default): does it, or rejects */
  mode: oneOf('apply', 'plan'),
  onProgress: callback<(progress: CopyProgress) => void>(),
  signal,
})

export type ApplyOptions = Given<typeof applyInput>

/** Applies what an environment changed to a directory on the caller's machine. */
export async function applyOnto(
  handles: Handles,
  info: EnvironmentInfo,
  dir: string,
  given: ApplyOptions,
  currentDirectory: () => Promise<string>,
): Promise<ApplyReport> {
  const { signal, path, paths, ...options } = checked('apply', applyInput, given)
  const { control, stateDir } = handles
  const target = checked('apply', anyPath, dir)
  const call = { signal }
  const copy = await copyOf(control, info, resolve(target), path)
  const root = path ?? copy?.path ?? (await rootOf(info, currentDirectory))
  const directory = directoryOf(control, info.id, root, call)
  const source = sourceOf(info.id, directory, copy, call)
  const chosen = await selectionOf(directory, options, call)
  const selects = both(chosen, paths && below(directory.path, paths))
  return await applyTo(target, source, { ...options, selects, stateDir })
}

interface KnownCopy {
  /** where it went, inside */
  readonly path: string
  readonly tree: CopiedTree
}

/** The last copy of this directory to this place, or to any. */
async function copyOf(
  control: Control,
  { id, copies }: EnvironmentInfo,
  host: string,
  path: string | undefined,
): Promise<KnownCopy | null> {
  for (const copy of copies.toReversed()) {
    if (path !== undefined && posix.resolve(path) !== copy.path) continue
    const tree = readNote(await control.call('environment.copyNote', { id, copy: copy.id }), host)
    if (tree !== null) return { path: copy.path, tree }
  }
  return null
}

async function rootOf(
  { source, workdir }: EnvironmentInfo,
  currentDirectory: () => Promise<string>,
): Promise<string> {
  return source.kind === 'dir' ? workdir : await currentDirectory()
}

/** Changes since the directory was copied in, or else since the environment was made. */
function sourceOf(
  of: EnvironmentInfo['id'],
  { control, path, entries }: Directory,
  copy: KnownCopy | null,
  call: CallOptions,
): ChangeSource {
  const digests: ChangeSource['digests'] = (contents) =>
    control.call('files.digests', { of, ...contents }, call)
  const archive: ChangeSource['archive'] = (paths) =>
    control.stream('files.archive', { of, paths }, call)
  if (copy !== null) return copiedSource(path, copy.tree, { entries, digests, archive })
  return { changes: () => control.call('files.changes', { of, path }, call), digests, archive }
}

/** What is at or below one of these, and the directories on the way there. */
function below(root: string, paths: readonly string[]): Selects {
  const wanted = paths.map((path) => {
    const whole = posix.resolve(root, path)
    const relative = posix.relative(root, whole)
    if (relative === '..' || relative.startsWith('../')) throw outside(path, root)
    return relative
  })
  return (path) =>
    wanted.some((each) => each === '' || isWithin(path, each) || isWithin(each, path))
}

function isWithin(path: string, above: string): boolean {
  return path === above || path.startsWith(`${above}/`)
}

function outside(path: string, root: string): InvalidInputError {
  return new InvalidInputError(`${quote(path)} is not below ${quote(root)}`, {
    remedy: 'name paths below the directory whose changes are applied',
  })
}

function both(one: Selects | undefined, other: Selects | undefined): Selects | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return (path, type) => one(path, type) && other(path, type)
}
