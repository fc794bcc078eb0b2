import { join } from 'node:path'
import { adoptApply, type OlderApply, recoverApplies } from '../../api/host/apply/recover.ts'
import { BackendError } from '../../model/errors.ts'
import type { Operation } from '../../store/journal.ts'
import type { Engine } from '../engine.ts'

/** Where applies through this home's handles record what they are doing. */
export function appliesIn(home: string): string {
  return join(home, 'applies')
}

/** An apply that could not be undone. */
export interface UnrecoveredApply {
  readonly id: string
  readonly error: Error
}

/** Undoes applies whose processes were killed, and reports those it could not undo. */
export async function undoApplies(
  engine: Engine,
): Promise<{ readonly recovered: number; readonly left: readonly UnrecoveredApply[] }> {
  const { recovered, left } = await recoverApplies(appliesIn(engine.store.home))
  for (const { id, error } of left) {
    const warning = new BackendError(`an unfinished apply cannot be undone: ${error.message}`, {
      cause: error,
      remedy: 'every command tries to undo it again',
      detail: { operation: id },
    })
    engine.warnings.add(id, warning)
  }
  return { recovered, left }
}

/** An earlier release recorded applies in the journal; everything else is the same. */
export async function handOverApply({ store }: Engine, operation: Operation): Promise<void> {
  const older = olderApply(operation)
  if (older === null) throw unknownTarget(operation.id)
  await adoptApply(appliesIn(store.home), older)
}

function olderApply({ id, payload }: Operation): OlderApply | null {
  const { target, device, inode, staging } = payload
  if (typeof target !== 'string' || typeof staging !== 'string') return null
  if (typeof device !== 'string' || typeof inode !== 'string') return null
  return { id, target, device, inode, staging }
}

function unknownTarget(id: string): BackendError {
  return new BackendError(`the target of the apply ${id} is unknown`, {
    remedy:
      'look for a directory .forkpoint-apply-… in the directory it was applied to; `old` in it has the original files',
  })
}
