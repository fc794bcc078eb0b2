import type { Database } from './database.ts'

/** How many events can be asked for again. */
const mostEvents = 10_000
/** Old events are dropped once in so many, because looking for them costs more than keeping them. */
const dropEvery = 500

export interface StoredEvent {
  readonly id: number
  readonly doc: unknown
}

/** What happened lately, in all processes that use this home. */
export interface EventLog {
  append(doc: unknown): number
  /** At most `most` events after `id`, oldest first. */
  after(id: number, most: number): StoredEvent[]
  /** The id of the newest event; 0 if there was none. */
  last(): number
}

export function eventLog(db: Database): EventLog {
  return {
    append: (doc) => {
      const sql = 'INSERT INTO events (doc) VALUES (?) RETURNING id'
      const id = Number(db.get(sql, JSON.stringify(doc))?.id)
      if (id % dropEvery === 0) db.run('DELETE FROM events WHERE id <= ?', id - mostEvents)
      return id
    },
    after: (id, most) => {
      const rows = db.all('SELECT * FROM events WHERE id > ? ORDER BY id LIMIT ?', id, most)
      return rows.map((row) => ({ id: Number(row.id), doc: JSON.parse(String(row.doc)) }))
    },
    last: () => Number(db.get("SELECT seq FROM sqlite_sequence WHERE name = 'events'")?.seq ?? 0),
  }
}
