import type { EndedCommand } from '../../model/ended-command.ts'
import { listRecords } from '../files/listing.ts'
import type { AgentConnection, CallOptions } from '../wire/connection.ts'
import { type Fields, need } from '../wire/fields.ts'
import { Op } from '../wire/wire.ts'
import { modeOf } from './commands.ts'
import { readExitStatus } from './signals.ts'

/** Flag of `exec.list`. */
const endedFlag = 1

/** The last commands that have ended, oldest first; none if the agent is too old to know. */
export async function listEndedCommands(
  connection: AgentConnection,
  options: CallOptions = {},
): Promise<EndedCommand[]> {
  const attempt = { verb: 'list', subject: 'ended commands' }
  const fields = { op: Op.execList, flags: endedFlag }
  const all = await listRecords(connection, attempt, fields, readEnded, options)
  return all.filter((each) => each !== null).sort((a, b) => a.endedAt - b.endedAt)
}

function readEnded(record: Fields): EndedCommand | null {
  const { endedMs, startedMs } = record
  if (endedMs === undefined) return null
  return {
    id: need(record, 'id'),
    mode: modeOf(record),
    shell: record.shell ?? null,
    command: record.command ?? '',
    startedAt: startedMs || endedMs,
    endedAt: endedMs,
    durationMs: (record.durationUs ?? 0) / 1000,
    exit: readExitStatus(record),
  }
}
