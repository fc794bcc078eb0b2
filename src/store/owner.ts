import type { ProcessIdentity } from '../linux/process-identity.ts'
import type { Row } from './database.ts'

/** The process that a lease, an operation, a spare or a reservation belongs to, from the columns of its row. */
export function ownerOf(row: Row): ProcessIdentity {
  return {
    pid: Number(row.owner_pid),
    startTicks: Number(row.owner_start),
    bootId: String(row.owner_boot),
  }
}
