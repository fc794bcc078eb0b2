import type { Sandbox } from 'e2b'

/** A version of the client, and the sandbox that its cases share. */
export interface Tour {
  readonly e2b: typeof import('e2b')
  readonly sandbox: Sandbox
  /** what one case leaves for the next */
  readonly kept: Map<string, unknown>
}

/** One method of a client, and what it must do. */
export interface Stop<T = Tour> {
  readonly method: string
  /** it is answered with a clear error, which the message of the failure must match */
  readonly refused?: RegExp
  run(tour: T): Promise<void>
}

/** `absent`: this version of the client does not have it. */
export type Outcome = 'yes' | 'no' | 'absent' | 'FAILED'

export interface Visited {
  readonly method: string
  readonly outcome: Outcome
  readonly error?: string
}

export function equal(found: unknown, wanted: unknown): void {
  const [left, right] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (left !== right) throw new Error(`${left} instead of ${right}`)
}

export function check(isGood: unknown, what: string): asserts isGood {
  if (!isGood) throw new Error(what)
}

/** Waits for something that happens soon. */
export async function soon(what: string, isSo: () => unknown): Promise<void> {
  for (const end = Date.now() + 60_000; !(await isSo()); ) {
    if (Date.now() > end) throw new Error(`never: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

export async function failure(work: Promise<unknown>): Promise<Error> {
  try {
    await work
  } catch (error) {
    return error as Error
  }
  throw new Error('it did not fail')
}

/** Runs one stop of a tour. */
export async function visit<T>(tour: T, { method, refused, run }: Stop<T>): Promise<Visited> {
  try {
    await run(tour)
    return { method, outcome: refused ? 'FAILED' : 'yes', ...(refused && { error: 'accepted' }) }
  } catch (error) {
    const message = String((error as Error).message)
    if (refused?.test(message)) return { method, outcome: 'no' }
    if (error instanceof Absent) return { method, outcome: 'absent' }
    return { method, outcome: 'FAILED', error: String((error as Error).stack) }
  }
}

class Absent extends Error {}

/** For methods that came with a later version. */
export function since<T>(method: T | undefined): T {
  if (method === undefined) throw new Absent()
  return method
}
