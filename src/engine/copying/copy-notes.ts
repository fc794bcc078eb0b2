import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CopyNote, EnvironmentRecord } from '../../model/environment.ts'
import { NotFoundError } from '../../model/errors.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import { quote } from '../../model/text/quote.ts'
import type { Engine } from '../engine.ts'

/** Older ones are forgotten: each takes up to some megabytes. */
const mostNotes = 16

export interface NewCopyNote {
  readonly id: EnvironmentId
  /** where the copy went, inside */
  readonly path: string
  /** what the directory was like; only who copied it can read this */
  readonly note: string
}

/** Keeps what a directory was like when it was copied in. Forks and snapshots have the note, too. */
export async function noteCopy(
  engine: Engine,
  { id, path, note }: NewCopyNote,
): Promise<EnvironmentRecord> {
  const { store } = engine
  const copy: CopyNote = { id: randomBytes(16).toString('hex'), path }
  await mkdir(notesIn(store.home), { recursive: true, mode: 0o700 })
  const place = notePath(store.home, copy.id)
  await writeFile(`${place}.new`, note, { mode: 0o600 })
  await rename(`${place}.new`, place)
  const record = store.transaction(() => {
    const { copies = [] } = store.environments.resolve(id)
    return store.environments.update(id, { copies: [...copies, copy].slice(-mostNotes) })
  })
  await removeUnusedNotes(engine)
  return record
}

/** The note of a copy that this environment, or what it was made from, has. */
export async function readCopyNote(
  { store }: Engine,
  { id, copy }: { readonly id: EnvironmentId; readonly copy: string },
): Promise<string> {
  const { copies = [] } = store.environments.resolve(id)
  const known = copies.find((each) => each.id === copy)
  if (known === undefined) throw unknown(copy)
  return await readFile(notePath(store.home, known.id), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? unknown(copy) : error
    },
  )
}

/** Another process may be about to record one that it has just written. */
const youngMs = 600_000

/** Removes the notes that no environment and no snapshot has any more. */
export async function removeUnusedNotes({ store }: Engine): Promise<void> {
  const names = await readdir(notesIn(store.home)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  if (names.length === 0) return
  // Without an environment, nobody can be about to record one.
  if (!store.environments.any() && !store.snapshots.any()) {
    return await rm(notesIn(store.home), { recursive: true, force: true })
  }
  const records = [...store.environments.list(), ...store.snapshots.list().map((s) => s.origin)]
  const used = new Set(records.flatMap(({ copies = [] }) => copies.map(({ id }) => id)))
  for (const name of names) {
    if (used.has(name)) continue
    const path = notePath(store.home, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
    if (mtimeMs < Date.now() - youngMs) await rm(path, { force: true })
  }
}

function notesIn(home: string): string {
  return join(home, 'copies')
}

function notePath(home: string, id: string): string {
  return join(notesIn(home), id)
}

function unknown(copy: string): NotFoundError {
  return new NotFoundError(`no copy ${quote(copy)} is known`, {
    remedy: 'copy the directory in again',
  })
}
