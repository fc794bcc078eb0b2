import type { EnvironmentId } from '../model/ids.ts'
import type { Database } from './database.ts'

/** When environments with policies were last used, by any process. */
export interface ActivityTimes {
  /** Null if it was not used since it got its policy. */
  lastAt(id: EnvironmentId): number | null
  /** Keeps the later time. */
  note(id: EnvironmentId, at: number): void
}

export function activityTimes(db: Database): ActivityTimes {
  return {
    lastAt: (id) => {
      const row = db.get('SELECT at FROM activity WHERE environment_id = ?', id)
      return row === undefined ? null : Number(row.at)
    },
    note: (id, at) => {
      db.run(
        `INSERT INTO activity (environment_id, at) SELECT id, ?2 FROM environments WHERE id = ?1
         ON CONFLICT (environment_id) DO UPDATE SET at = max(at, excluded.at)`,
        id,
        at,
      )
    },
  }
}
