import { closeSync, constants, fstatSync, openSync, renameSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../model/log.ts'

/** One request, for whoever has to find out later who did what. */
export interface AuditEntry {
  readonly requestId: string
  /** the id of the token; `local`: through the Unix socket; null: nobody could be told */
  readonly principal: string | null
  readonly operation: string
  /** what it was done to, as the path named it */
  readonly object: string | null
  /** the status of the answer */
  readonly result: number
  readonly durationMs: number
}

export interface Audit extends AsyncDisposable {
  record(entry: AuditEntry): void
}

const mostBytes = 64 * 1024 ** 2
const keptFiles = 5
const settleMs = 20
const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW

/** JSON lines that are only ever appended. A file that has grown large is renamed, and a new one begun. */
export function openAudit(path: string, log: Log): Audit {
  let fd = openSync(path, flags, 0o600)
  let bytes = fstatSync(fd).size
  let isClosed = false
  const rotate = () => {
    for (let age = keptFiles - 1; age >= 1; age -= 1)
      renameIfThere(`${path}.${age}`, `${path}.${age + 1}`)
    renameIfThere(path, `${path}.1`)
    closeSync(fd)
    fd = openSync(path, flags, 0o600)
    bytes = 0
  }
  return {
    record: (entry) => {
      // The number of a closed file may already be that of another.
      if (isClosed) return log.info({ audit: entry }, 'ended after the audit log')
      const line = `${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`
      try {
        if (bytes > mostBytes) rotate()
        bytes += writeSync(fd, line)
      } catch (err) {
        // A full disk must not stop those who want to free it; the log has the line instead.
        log.error({ err, audit: entry }, 'cannot write the audit log')
      }
    },
    [Symbol.asyncDispose]: async () => {
      // Connections that were just cut report their end in the next turns of the loop.
      await sleep(settleMs)
      isClosed = true
      closeSync(fd)
    },
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
