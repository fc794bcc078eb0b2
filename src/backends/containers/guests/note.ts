import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { type EnvironmentId, isEnvironmentId } from '../../../model/ids.ts'
import type { Room } from '../room.ts'

/** Where the agent of an environment is a guest. It is written before anything goes there. */
const noteSchema = z.object({
  /** id of the container that is not ours */
  container: z.string(),
  /** when that container was started: a later start of it has nothing of ours */
  startedAt: z.string(),
  life: z.string(),
  /** modification time of its root directory before, in nanoseconds */
  rootTime: z.string(),
})

export type Note = z.infer<typeof noteSchema>

const ending = '.json'

export async function writeNote(room: Room, id: EnvironmentId, note: Note): Promise<void> {
  await mkdir(room.notes, { recursive: true, mode: 0o700 })
  const file = fileOf(room, id)
  await writeFile(`${file}.new`, JSON.stringify(note), { mode: 0o600, flush: true })
  await rename(`${file}.new`, file)
}

/** Null if it is a guest nowhere. */
export async function readNote(room: Room, id: EnvironmentId): Promise<Note | null> {
  const text = await readFile(fileOf(room, id), 'utf8').catch(nullIfMissing)
  return text === null ? null : noteSchema.parse(JSON.parse(text))
}

export async function removeNote(room: Room, id: EnvironmentId): Promise<void> {
  await rm(fileOf(room, id), { force: true })
}

export async function listNotes(room: Room): Promise<(Note & { readonly id: EnvironmentId })[]> {
  const names = (await readdir(room.notes).catch(nullIfMissing)) ?? []
  const ids = names
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
  const notes = await Promise.all(
    ids.filter(isEnvironmentId).map(async (id) => {
      const note = await readNote(room, id)
      return note === null ? [] : [{ id, ...note }]
    }),
  )
  return notes.flat()
}

function fileOf({ notes }: Room, id: EnvironmentId): string {
  return join(notes, `${id}${ending}`)
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
