import * as z from 'zod/mini'
import type { EndedCommand } from '../model/ended-command.ts'
import type { EnvironmentId } from '../model/ids.ts'
import type { Database } from './database.ts'

/** How many of one environment are kept. */
const mostPerEnvironment = 1000
/** How long those of an environment that was removed are kept. */
const keptMs = 30 * 24 * 60 * 60 * 1000

/** Commands that have ended inside, for the log. A copy of one may end again, at another time. */
export interface EndedCommands {
  /** Adds those that are not there yet, and drops the oldest. */
  add(environmentId: EnvironmentId, commands: readonly EndedCommand[]): void
  /** Oldest first. */
  list(environmentId: EnvironmentId): EndedCommand[]
}

const schema: z.ZodMiniType<EndedCommand> = z.object({
  id: z.string(),
  mode: z.enum(['shell', 'process', 'detached']),
  shell: z.nullable(z.string()),
  command: z.string(),
  startedAt: z.number(),
  endedAt: z.number(),
  durationMs: z.number(),
  exit: z.object({ exitCode: z.nullable(z.number()), signal: z.nullable(z.string()) }),
})

export function endedCommands(db: Database): EndedCommands {
  return {
    add: (environmentId, commands) => {
      if (commands.length > 0) db.transaction(() => add(db, environmentId, commands))
    },
    list: (environmentId) => {
      const sql = 'SELECT doc FROM ended_commands WHERE environment_id = ? ORDER BY ended_at'
      return db.all(sql, environmentId).map(({ doc }) => schema.parse(JSON.parse(String(doc))))
    },
  }
}

function add(db: Database, environmentId: EnvironmentId, commands: readonly EndedCommand[]): void {
  const sql = `INSERT OR IGNORE INTO ended_commands (environment_id, command_id, ended_at, doc)
     VALUES (?, ?, ?, ?)`
  let added = 0
  for (const command of commands) {
    added += db.run(sql, environmentId, command.id, command.endedAt, JSON.stringify(command))
  }
  if (added === 0) return
  db.run(
    `DELETE FROM ended_commands WHERE environment_id = ?1 AND ended_at < (
       SELECT ended_at FROM ended_commands WHERE environment_id = ?1
       ORDER BY ended_at DESC LIMIT 1 OFFSET ?2)`,
    environmentId,
    mostPerEnvironment - 1,
  )
  db.run(
    `DELETE FROM ended_commands WHERE ended_at < ?
     AND environment_id NOT IN (SELECT id FROM environments)`,
    Date.now() - keptMs,
  )
}
