import type { KeepReason } from '../../index.ts'
import type { Style } from './style.ts'
import { type Column, table } from './table.ts'

export interface PruneLine {
  readonly id: string
  readonly name: string | null
  /** null: it goes */
  readonly reason: KeepReason | null
}

/** What goes and what stays, with the reason. */
export function pruneTable(
  lines: readonly PruneLine[],
  nameOf: (id: string) => string,
  style: Style,
): string {
  const columns: readonly Column<PruneLine>[] = [
    { title: 'NAME', cell: ({ name }) => name ?? '-', paint: (text) => style.strong(text) },
    { title: 'ID', cell: ({ id }) => id },
    {
      title: 'VERDICT',
      cell: ({ reason }) => (reason === null ? 'goes' : 'stays'),
      paint: (text, { reason }) => (reason === null ? style.bad(text) : style.good(text)),
    },
    { title: 'WHY', cell: ({ reason }) => (reason === null ? '' : whyOf(reason, nameOf)) },
  ]
  return table(columns, lines, style)
}

function whyOf(reason: KeepReason, nameOf: (id: string) => string): string {
  switch (reason.kind) {
    case 'head':
      return `environment ${nameOf(reason.environment)} goes on from it`
    case 'base':
      return `snapshot ${nameOf(reason.snapshot)} builds on it`
    case 'in-use':
      return 'it is being restored or forked right now'
    case 'writing':
      return 'it is being written'
    case 'named':
      return 'it has a name'
    case 'recent':
      return 'it is among the last of its environment'
    case 'young':
      return 'it is not that old'
  }
}
