import { PrerequisiteError } from '../../model/errors.ts'
import type { Engine } from '../engine.ts'

/**
 * Asks a backend about everything of this home. One whose engine does not run now cannot answer, which must
 * not hinder the others: what it has is looked for the next time.
 */
export async function unlessUnreachable<T>(
  { log }: Pick<Engine, 'log'>,
  otherwise: T,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask()
  } catch (err) {
    if (!(err instanceof PrerequisiteError)) throw err
    log.warn({ err }, 'a backend cannot be reached')
    return otherwise
  }
}
