import type { KeepReason } from '../../index.ts'
import type { Style } from './layout/style.ts'
import { type Column, table } from './layout/table.ts'

export interface PruneLine {
  readonly id: string
  readonly name: string | null
  /** why it stays; null: it is removed */
  readonly reason: KeepReason | null
}

/** Which snapshots are removed and which stay, with the reason. */
export function pruneTable(
  lines: readonly PruneLine[],
  nameOf: (id: string) => string,
  style: Style,
): string {
  const columns: readonly Column<PruneLine>[] = [
    { title: 'NAME', cell: ({ name }) => name ?? '-', paint: (text) => style.strong(text) },
    { title: 'ID', cell: ({ id }) => id },
    {
      title: 'DECISION',
      cell: ({ reason }) => (reason === null ? 'remove' : 'keep'),
      paint: (text, { reason }) => (reason === null ? style.bad(text) : style.good(text)),
    },
    { title: 'WHY', cell: ({ reason }) => (reason === null ? '' : whyOf(reason, nameOf)) },
  ]
  return table(columns, lines, style)
}

function whyOf(reason: KeepReason, nameOf: (id: string) => string): string {
  switch (reason.kind) {
    case 'head':
      return `environment ${nameOf(reason.environment)} continues from it`
    case 'base':
      return `snapshot ${nameOf(reason.snapshot)} builds on it`
    case 'in-use':
      return 'it is being restored or forked right now'
    case 'writing':
      return 'it is being written'
    case 'named':
      return 'it has a name'
    case 'recent':
      return 'it is among the newest of its environment'
    case 'young':
      return 'it is not old enough'
  }
}
