import { chmod, chown, lchown, mkdir } from 'node:fs/promises'
import { holdEntry } from '../../../agent/files/host-path.ts'
import { ConflictError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import type { ArchiveEntry } from '../archive/entries.ts'
import { type ReadOptions, readArchive } from '../archive/read-archive.ts'
import { TreeWriter } from '../archive/tree-writer.ts'
import type { NewOwner } from '../archive/write-entry.ts'
import { type DecidedChange, outsideMode, type Placed } from './plan.ts'
import type { ChangeSource } from './source.ts'
import type { Staging } from './staging.ts'
import { typeOf } from './target-directory.ts'

interface NewEntry {
  readonly item: Placed
  readonly slot: number
}

/** Puts every new entry into the staging directory, complete with mode and owner. */
export async function stage(
  source: ChangeSource,
  staging: Staging,
  due: readonly DecidedChange[],
  options: ReadOptions,
): Promise<void> {
  // Only root can give files to somebody else.
  const owner = process.geteuid?.() === 0 ? staging.target.owner : 'maker'
  const made = due
    .map(({ item, decision }, slot) => ({ item, slot, decision }))
    .filter(({ item, decision }) => decision === 'apply' && item.change.after)
  const copied = made.filter(({ item }) => item.change.after?.type !== 'directory')
  if (copied.length > 0) await fetch(source, staging, copied, owner, options)
  for (const { item, slot } of made) await setAttributes(staging.place('new', slot), item, owner)
}

/** Copies each file to a name that is its number. */
async function fetch(
  source: ChangeSource,
  staging: Staging,
  copied: readonly NewEntry[],
  owner: NewOwner,
  options: ReadOptions,
): Promise<void> {
  const slots = new Map(copied.map(({ item, slot }) => [item.change.path, slot]))
  const missing = new Set(slots.keys())
  const numbered = (path: string): string => {
    const slot = slots.get(`/${path}`)
    if (slot === undefined) throw changedMeanwhile(`/${path}`)
    return String(slot)
  }
  using files = new TreeWriter(staging.newDirectory, owner)
  const visit = async (entry: ArchiveEntry) => {
    if (entry.type === 'directory') throw changedMeanwhile(`/${entry.path}`)
    missing.delete(`/${entry.path}`)
    const path = numbered(entry.path)
    await files.write(
      entry.type === 'link' ? { ...entry, path, first: numbered(entry.first) } : { ...entry, path },
    )
  }
  await readArchive(await source.archive([...slots.keys()]), visit, options)
  for (const path of missing) throw changedMeanwhile(path)
}

/**
 * A file that is replaced keeps its owner, and its mode unless the environment changed it. It never
 * keeps its set-id bits, which were meant for other content.
 */
async function setAttributes(
  place: Buffer,
  { change: { path, before, after }, state }: Placed,
  owner: NewOwner,
): Promise<void> {
  if (after?.type === 'directory') {
    await mkdir(place)
    await chmod(place, outsideMode(after))
    if (typeof owner === 'object') await chown(place, owner.uid, owner.gid)
  }
  await using entry = await holdEntry(place)
  // A running environment may have put something else there, and chmod would follow a symlink.
  if (typeOf(await entry.stat()) !== after?.type) throw changedMeanwhile(path)
  if (state.state !== 'present' || before?.type !== after.type) return
  await lchown(place, state.uid, state.gid)
  if (after.type === 'file' && before.mode === after.mode) {
    await chmod(`/proc/self/fd/${entry.fd}`, state.mode & 0o1777)
  }
}

function changedMeanwhile(path: string): ConflictError {
  return new ConflictError(`${quote(path)} changed inside while it was being copied`, {
    remedy: 'try again; pause the environment if it keeps changing',
  })
}
