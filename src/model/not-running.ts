import type { EnvironmentStatus } from './environment.ts'
import { ConflictError } from './errors.ts'

interface Seen {
  readonly id: string
  readonly name: string | null
  readonly status: EnvironmentStatus
  readonly head: string | null
}

/** Why an environment whose agent does not run cannot answer, and what to do about it. */
export function notRunning({ id, name, status, head }: Seen): ConflictError {
  const subject = name ?? id
  return new ConflictError(`environment ${subject} is ${status}`, {
    remedy: remedyFor(subject, status, head),
  })
}

function remedyFor(subject: string, status: EnvironmentStatus, head: string | null): string {
  if (status === 'paused') return `resume it with \`forkpoint resume ${subject}\``
  const isRevivable = status === 'released' || (status === 'dead' && head !== null)
  if (isRevivable) return `bring it back with \`forkpoint resume ${subject}\``
  return status === 'dead' ? `remove it with \`forkpoint rm ${subject}\`` : 'try again'
}
