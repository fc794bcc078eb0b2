import type { LogEntry } from '../../index.ts'
import { formatAge, formatBytes, formatDuration } from '../../model/values/quantities.ts'
import type { Style } from './layout/style.ts'
import { type Column, table } from './layout/table.ts'

export function renderLog(entries: readonly LogEntry[], nowMs: number, style: Style): string {
  const columns: readonly Column<LogEntry>[] = [
    { title: 'AGE', cell: ({ startedAt }) => formatAge(startedAt, nowMs) },
    { title: 'OPERATION', cell: operationOf, paint: (text) => style.strong(text) },
    {
      title: 'STATE',
      cell: ({ state }) => state.replace('_', ' '),
      paint: (text, { state }) => paints[state](style)(text),
    },
    { title: 'TIME', cell: ({ durationMs }) => optional(durationMs, formatDuration) },
    { title: 'WRITTEN', cell: ({ bytes }) => optional(bytes, formatBytes) },
    {
      title: 'SNAPSHOT',
      cell: ({ snapshot, from }) => snapshot ?? (from && `from ${from}`) ?? '-',
    },
    { title: 'STEPS', cell: stepsOf },
  ]
  return table(columns, entries, style)
}

/** With what started it, if no caller did. */
function operationOf({ kind, cause }: LogEntry): string {
  return cause === null ? kind : `${kind} (${cause})`
}

function stepsOf({ phases, error }: LogEntry): string {
  if (error !== null) return error.message
  return phases.map(({ name, ms }) => `${name} ${formatDuration(ms)}`).join(', ')
}

function optional(value: number | null, format: (value: number) => string): string {
  return value === null ? '-' : format(value)
}

const paints: Record<LogEntry['state'], (style: Style) => (text: string) => string> = {
  open: (style) => style.doubtful,
  done: (style) => style.good,
  failed: (style) => style.bad,
  rolled_back: (style) => style.doubtful,
}
