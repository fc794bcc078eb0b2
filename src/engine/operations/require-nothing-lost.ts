import { ConflictError } from '../../model/errors.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import { lostInWords } from '../../model/text/lost.ts'

/** Refuses a snapshot whose copies do not have everything that the original has. */
export function requireNothingLost({ lost = [] }: Pick<SnapshotRecord, 'lost'>): void {
  const [first, ...others] = lost
  if (first === undefined) return
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  throw new ConflictError(`a copy would not have everything: ${lostInWords(first)}${more}`, {
    remedy: 'end what cannot be kept, or leave out `--strict` to do without it',
    detail: { lost: lost.map((each) => ({ ...each })) },
  })
}
