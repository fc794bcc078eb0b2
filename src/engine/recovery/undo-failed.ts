import type { Operation } from '../../store/journal.ts'
import type { Engine } from '../engine.ts'
import { warn } from './recover.ts'

/**
 * Undoes an operation that failed with `error`, and closes it. If undoing fails too, the operation
 * stays open for the next process to recover; the caller still throws the first error.
 */
export async function undoFailed(
  engine: Engine,
  operation: Operation,
  error: unknown,
  undo: () => Promise<void>,
): Promise<void> {
  try {
    await undo()
    engine.store.journal.fail(operation, error)
  } catch (undoError) {
    warn(engine, operation, undoError as Error)
  }
}
