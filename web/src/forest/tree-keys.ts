import type { Row } from './layout.ts'

/** What a key means in the tree. */
export type Move = {
  readonly kind: 'to' | 'fold' | 'open' | 'mark'
  readonly row: Row
}

/** How far Page Up and Page Down go. */
const page = 20

/** As trees work everywhere: arrows walk and fold, Enter opens, `x` marks. Null: the key means nothing here. */
export function moveFor(key: string, rows: readonly Row[], at: number): Move | null {
  const row = rows[at]
  const to = (index: number): Move | null => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, index))]
    return next === undefined ? null : { kind: 'to', row: next }
  }
  if (row === undefined) return key.startsWith('Arrow') ? to(0) : null
  switch (key) {
    case 'ArrowDown':
      return to(at + 1)
    case 'ArrowUp':
      return to(at - 1)
    case 'PageDown':
      return to(at + page)
    case 'PageUp':
      return to(at - page)
    case 'Home':
      return to(0)
    case 'End':
      return to(rows.length - 1)
    case 'ArrowRight':
      return row.fold === 'folded' ? { kind: 'fold', row } : row.fold === 'open' ? to(at + 1) : null
    case 'ArrowLeft':
      return row.fold === 'open' ? { kind: 'fold', row } : row.above === null ? null : to(row.above)
    case 'Enter':
    case ' ':
      return { kind: 'open', row }
    case 'x':
      return { kind: 'mark', row }
    default:
      return null
  }
}
