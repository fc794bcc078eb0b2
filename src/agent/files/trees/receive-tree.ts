import { protocolError } from '../../failures.ts'
import type { AgentConnection } from '../../wire/connection.ts'
import type { Fields } from '../../wire/fields.ts'
import { Op } from '../../wire/wire.ts'
import { checkPath, type FileInfo, readEntry } from '../files.ts'
import { eachRecord } from '../listing.ts'
import { Outstanding } from './outstanding.ts'
import type { StagedDirectory } from './staged-directory.ts'

/** What to do with the entries of a tree. */
export interface TreeReceiver {
  readonly signal: AbortSignal
  /** Throws if there are more entries, or deeper ones, than a host should take. */
  bound(path: string, depth: number): void
  file(to: StagedDirectory, entry: Entry, content: Buffer): void
  /** Starts to fetch a file that is too large for a record. */
  largeFile(to: StagedDirectory, entry: Entry): Promise<{ readonly done: Promise<void> }>
  symlink(to: StagedDirectory, entry: Entry): void
  other(path: string): void
  /** Stops the large files. */
  abandon(error: unknown): Promise<void>
  /** Everything in the directory is there. */
  finish(directory: StagedDirectory, info: FileInfo): void
}

export interface Entry extends FileInfo {
  readonly name: string
  /** relative to the tree */
  readonly path: string
}

interface Level {
  readonly prefix: string
  readonly directory: StagedDirectory
  readonly info: FileInfo
  readonly pending: Outstanding
}

/**
 * Receives a whole tree over one stream. A record names an entry by its path, and comes after that of the
 * directory that it is in: only directories that were made here are ever entered, whatever the agent says.
 */
export async function receiveTree(
  connection: AgentConnection,
  from: string,
  root: { readonly directory: StagedDirectory; readonly info: FileInfo },
  receiver: TreeReceiver,
): Promise<void> {
  const levels: Level[] = [{ prefix: '', ...root, pending: new Outstanding() }]
  const finishing = new Outstanding()
  const attempt = { verb: 'read', subject: from }
  const fields = { op: Op.treeRead, path: checkPath(from) }
  const { signal } = receiver
  try {
    for await (const record of eachRecord(connection, attempt, fields, { signal })) {
      const entry = readTreeEntry(record)
      const prefix = entry.path.slice(0, entry.path.length - entry.name.length)
      const level = leaveUntil(levels, prefix, receiver, finishing)
      receiver.bound(entry.path, levels.length)
      if (entry.type === 'directory') {
        const below = level.directory.make(entry.name)
        const inside = { directory: below, info: entry, pending: new Outstanding() }
        levels.push({ prefix: `${entry.path}/`, ...inside })
      } else if (entry.type === 'symlink') receiver.symlink(level.directory, entry)
      else if (entry.type === 'other') receiver.other(entry.path)
      else if (record.content !== undefined) receiver.file(level.directory, entry, record.content)
      else level.pending.add((await receiver.largeFile(level.directory, entry)).done)
    }
    leaveUntil(levels, null, receiver, finishing)
  } catch (error) {
    await receiver.abandon(error)
    for (const level of levels) closeAfter(level, finishing)
    // The first failure is thrown below; others followed from it.
    await finishing.all().catch(() => {})
    throw error
  }
  await finishing.all()
}

/** Leaves directories until the one with this prefix, or all of them. */
function leaveUntil(
  levels: Level[],
  prefix: string | null,
  receiver: TreeReceiver,
  finishing: Outstanding,
): Level {
  for (;;) {
    const level = levels.at(-1)
    if (level === undefined) throw protocolError(`an entry outside its tree: ${prefix}`)
    if (level.prefix === prefix) return level
    levels.pop()
    leave(level, receiver, finishing)
    if (prefix === null && levels.length === 0) return level
  }
}

function leave(level: Level, receiver: TreeReceiver, finishing: Outstanding): void {
  const { directory, info, pending } = level
  const finish = () => {
    try {
      if (!receiver.signal.aborted) receiver.finish(directory, info)
    } finally {
      directory.close()
    }
  }
  // Large files are written through the directory, so it closes after them.
  if (pending.count === 0) finish()
  else finishing.add(pending.all().finally(finish))
}

function closeAfter({ directory, pending }: Level, finishing: Outstanding): void {
  finishing.add(pending.all().finally(() => directory.close()))
}

function readTreeEntry(record: Fields): Entry {
  const path = record.path ?? ''
  const name = path.slice(path.lastIndexOf('/') + 1)
  return { ...readEntry({ ...record, name }), path }
}
