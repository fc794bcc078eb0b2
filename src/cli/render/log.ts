import type { LogEntry } from '../../index.ts'
import { formatBytes, formatClock, formatDuration } from '../../model/values/quantities.ts'
import type { Style } from './layout/style.ts'
import { type Column, table } from './layout/table.ts'

export function renderLog(entries: readonly LogEntry[], nowMs: number, style: Style): string {
  const columns: readonly Column<LogEntry>[] = [
    { title: 'TIME', cell: ({ startedAt }) => formatClock(startedAt, nowMs) },
    { title: 'OPERATION', cell: operationOf, paint: (text) => style.strong(text) },
    {
      title: 'STATE',
      cell: ({ state }) => states[state],
      paint: (text, { state }) => paints[state](style)(text),
    },
    { title: 'TOOK', cell: ({ durationMs }) => optional(durationMs, formatDuration) },
    { title: 'WRITTEN', cell: ({ bytes }) => optional(bytes, formatBytes) },
    {
      title: 'SNAPSHOT',
      cell: ({ snapshot, from }) => snapshot ?? (from && `from ${from}`) ?? '-',
      drop: 2,
    },
    { title: 'STEPS', cell: stepsOf, drop: 1 },
  ]
  return table(columns, entries, style)
}

/** With what started it, if no caller did. */
function operationOf({ kind, cause }: LogEntry): string {
  return cause === null ? kind : `${kind} (${cause})`
}

/** A step that took no time is not worth its words. */
const leastMs = 0.5

function stepsOf({ phases, error }: LogEntry): string {
  if (error !== null) return error.message
  return phases
    .filter(({ ms }) => ms >= leastMs)
    .map(({ name, ms }) => `${steps[name] ?? name} ${formatDuration(ms)}`)
    .join(', ')
}

/** What a step does, in words that need no knowledge of the engine. */
const steps: Readonly<Record<string, string>> = {
  arm: 'start noting writes',
  baseline: 'find what is known already',
  checkpoint: 'save processes',
  commit: 'save files',
  copy: 'copy files',
  dump: 'save processes',
  files: 'copy files',
  flush: 'write to disk',
  freeze: 'stop',
  hooks: 'run hooks',
  introduce: 'say who it is',
  judge: 'look at programs',
  live: 'copy memory while it runs',
  materialize: 'start the copy',
  names: 'keep open files',
  pause: 'stop',
  plan: 'plan memory',
  restore: 'start again',
  seal: 'keep files',
  settle: 'wait for it',
  share: 'share memory',
  surgery: 'sort memory',
  swap: 'take over',
  thaw: 'continue',
  track: 'note writes',
  unpause: 'continue',
  wake: 'wake a spare',
}

function optional(value: number | null, format: (value: number) => string): string {
  return value === null ? '-' : format(value)
}

const states: Record<LogEntry['state'], string> = {
  open: 'running',
  done: 'done',
  failed: 'failed',
  rolled_back: 'killed, recovered',
}

const paints: Record<LogEntry['state'], (style: Style) => (text: string) => string> = {
  open: (style) => style.doubtful,
  done: (style) => style.good,
  failed: (style) => style.bad,
  rolled_back: (style) => style.doubtful,
}
