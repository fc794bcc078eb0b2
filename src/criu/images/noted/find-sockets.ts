import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { NotedSocket } from './notes.ts'
import type { SocketNames } from './socket-names.ts'

/**
 * What moved sockets are called. `upper` is the directory that has the changed files of the environment;
 * it is searched only for sockets with several names, and for those the kernel no longer knows one of.
 */
export function socketNames(notes: readonly NotedSocket[], upper: string): SocketNames {
  const known = new Map<number, readonly string[]>()
  const sought: NotedSocket[] = []
  for (const note of notes) {
    if (note.path !== null && note.links === 1) known.set(note.ino, [note.path])
    else sought.push(note)
  }
  if (sought.length === 0) return known
  const found = socketsBelow(upper)
  for (const { ino, file, path } of sought) {
    const names = found.get(file) ?? (path === null ? [] : [path])
    if (names.length > 0) known.set(ino, names)
  }
  return known
}

/** All sockets in a directory and below, by inode. Names have one character per byte. */
function socketsBelow(top: string): Map<number, string[]> {
  const found = new Map<number, string[]>()
  const pending = ['']
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const here = join(top, at)
    for (const entry of readdirSync(Buffer.from(here, 'latin1'), {
      withFileTypes: true,
      encoding: 'latin1',
    })) {
      const path = `${at}/${entry.name}`
      if (entry.isDirectory()) pending.push(path)
      if (!entry.isSocket()) continue
      const { ino } = lstatSync(Buffer.from(join(top, path), 'latin1'))
      found.set(ino, [...(found.get(ino) ?? []), path])
    }
  }
  return found
}
