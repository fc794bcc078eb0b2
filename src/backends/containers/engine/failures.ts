import { BackendError, PrerequisiteError } from '../../../model/errors.ts'
import { type Address, describeAddress } from './address.ts'
import type { EngineKind } from './engine-kind.ts'

/** The engine answered with an error. */
export class EngineRefusal extends BackendError {
  readonly status: number
  constructor(kind: EngineKind, doing: string, status: number, text: string) {
    super(`${kind.name}: ${doing} failed: ${messageIn(text)} (status ${status})`, {
      remedy: `look at the log of the ${kind.engine} engine, then try again`,
      detail: { status },
    })
    this.status = status
  }
}

/** Runs `work`, and takes these statuses for an answer: what it wants is already so. */
export async function unlessRefused(
  statuses: readonly number[],
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof EngineRefusal && statuses.includes(error.status)) return
    throw error
  }
}

/** The same for what may not exist: null if it does not. */
export async function ifFound<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof EngineRefusal && error.status === 404) return null
    throw error
  }
}

export function unreachable(kind: EngineKind, address: Address, cause: Error): PrerequisiteError {
  return new PrerequisiteError(
    `cannot reach the ${kind.engine} engine at ${describeAddress(address)}: ${cause.message}`,
    { remedy: kind.remedy, cause },
  )
}

const longestMessage = 2000

/** Engines answer with {"message": …}; anything else is shown as it is. */
function messageIn(text: string): string {
  const shown = text.trim().slice(0, longestMessage)
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed !== 'object' || parsed === null || !('message' in parsed)) return shown
    return String(parsed.message).slice(0, longestMessage)
  } catch {
    // Not JSON: the text itself says what it is.
    return shown
  }
}
