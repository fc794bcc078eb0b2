import { isAlive, selfIdentity } from '../linux/process-identity.ts'
import type { Database } from './database.ts'
import { ownerOf } from './owner.ts'

/**
 * Memory that is promised to copies while they are made, by any process. Until then the kernel does not
 * count it, so it would be promised twice.
 */
export interface Reservations {
  /** What live processes have reserved. Forgets what others had. */
  totalBytes(): number
  /** Sets what is reserved under this id; nothing is left of one of 0 bytes. */
  set(id: string, bytes: number): void
}

export function reservations(db: Database): Reservations {
  return {
    totalBytes: () => {
      let total = 0
      for (const row of db.all('SELECT * FROM reservations')) {
        if (isAlive(ownerOf(row))) total += Number(row.bytes)
        else remove(db, String(row.id))
      }
      return total
    },
    set: (id, bytes) => (bytes > 0 ? put : remove)(db, id, bytes),
  }
}

function remove(db: Database, id: string): void {
  db.run('DELETE FROM reservations WHERE id = ?', id)
}

function put(db: Database, id: string, bytes: number): void {
  const { pid, startTicks, bootId } = selfIdentity()
  db.run(
    `INSERT INTO reservations (id, bytes, owner_pid, owner_start, owner_boot) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET bytes = excluded.bytes`,
    id,
    bytes,
    pid,
    startTicks,
    bootId,
  )
}
