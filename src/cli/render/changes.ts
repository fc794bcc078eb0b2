import type { ChangeKind, FileChange } from '../../index.ts'
import { printable } from '../../model/text/printable.ts'
import { formatBytes } from '../../model/values/quantities.ts'
import type { Style } from './layout/style.ts'
import { width } from './layout/text.ts'

/** One line per change: what happened, where, and by how many bytes. */
export function renderChanges(changes: readonly FileChange[], style: Style): string {
  const widest = changes.reduce((most, change) => Math.max(most, width(pathOf(change))), 0)
  return changes
    .map((change) => {
      const path = pathOf(change)
      const kind = paints[change.kind](style)(change.kind.padEnd(8))
      const detail = style.faint(detailOf(change))
      return `${kind}  ${path.padEnd(path.length + widest - width(path))}  ${detail}`.trimEnd()
    })
    .join('\n')
}

/** How many changes of each kind, and the bytes of all. */
export function renderStat(changes: readonly FileChange[], style: Style): string {
  if (changes.length === 0) return style.faint('no difference')
  const counts = Map.groupBy(changes, ({ kind }) => kind)
  const parts = [...counts].map(([kind, some]) => `${some.length} ${kind}`)
  const bytes = changes.reduce((sum, { sizeDelta }) => sum + sizeDelta, 0)
  return `${parts.join(', ')}; ${signed(bytes)}`
}

/** A deleted directory ends in a slash; a renamed file shows both names. */
function pathOf({ path, from, before, after }: FileChange): string {
  const slash = (after ?? before)?.type === 'directory' ? '/' : ''
  const shown = printable(path) + slash
  return from === undefined ? shown : `${printable(from)} → ${shown}`
}

function detailOf({ kind, before, after, sizeDelta, contents }: FileChange): string {
  switch (kind) {
    case 'type':
      return `${before?.type} → ${after?.type}`
    case 'mode':
      return `${octal(before?.mode)} → ${octal(after?.mode)}`
    case 'owner':
      return `${before?.uid}:${before?.gid} → ${after?.uid}:${after?.gid}`
    case 'deleted':
      return `${signed(sizeDelta)}${contents ? `, with ${contents} entries in it` : ''}`
    case 'added':
    case 'modified':
    case 'renamed':
      return sizeDelta === 0 ? '' : signed(sizeDelta)
  }
}

function signed(bytes: number): string {
  return `${bytes < 0 ? '-' : '+'}${formatBytes(Math.abs(bytes))}`
}

function octal(mode: number | undefined): string {
  return (mode ?? 0).toString(8).padStart(4, '0')
}

const paints: Record<ChangeKind, (style: Style) => (text: string) => string> = {
  added: (style) => style.good,
  modified: (style) => style.doubtful,
  deleted: (style) => style.bad,
  type: (style) => style.doubtful,
  mode: (style) => style.faint,
  owner: (style) => style.faint,
  renamed: (style) => style.doubtful,
}
