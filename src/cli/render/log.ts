import type { EndedCommand, LogEntry } from '../../index.ts'
import { formatBytes, formatClock, formatDuration } from '../../model/values/quantities.ts'
import { shortCommand } from '../exec/remarks.ts'
import { exitOf } from './exit.ts'
import type { Style } from './layout/style.ts'
import { type Column, table } from './layout/table.ts'

/** What was done to an environment, and what ran in it. */
export interface History {
  readonly operations: readonly LogEntry[]
  readonly commands: readonly EndedCommand[]
}

interface Line {
  readonly at: number
  readonly what: string
  readonly state: string
  readonly mood: 'good' | 'doubtful' | 'bad'
  readonly durationMs: number | null
  readonly written: string
  readonly snapshot: string
  readonly details: string
}

/** One line each, in the order in which they began. */
export function renderLog({ operations, commands }: History, nowMs: number, style: Style): string {
  const columns: readonly Column<Line>[] = [
    { title: 'TIME', cell: ({ at }) => formatClock(at, nowMs) },
    { title: 'OPERATION', cell: ({ what }) => what, paint: (text) => style.strong(text) },
    {
      title: 'STATE',
      cell: ({ state }) => state,
      paint: (text, { mood }) => style[mood](text),
    },
    {
      title: 'TOOK',
      cell: ({ durationMs }) => (durationMs === null ? '-' : formatDuration(durationMs)),
    },
    { title: 'WRITTEN', cell: ({ written }) => written, drop: 2 },
    { title: 'SNAPSHOT', cell: ({ snapshot }) => snapshot, drop: 1 },
    { title: 'DETAILS', cell: ({ details }) => details, least: leastDetails },
  ]
  const lines = [...operations.map(operationLine), ...commands.map(commandLine)]
  return table(
    columns,
    lines.sort((a, b) => a.at - b.at),
    style,
  )
}

/** Enough to recognize a command. */
const leastDetails = 24

function operationLine(entry: LogEntry): Line {
  const { kind, cause, state, startedAt, durationMs, bytes, snapshot, from } = entry
  const { word, mood } = states[state]
  return {
    at: startedAt,
    // With what started it, if no caller did.
    what: cause === null ? kind : `${kind} (${cause})`,
    state: word,
    mood,
    durationMs,
    written: bytes === null ? '-' : formatBytes(bytes),
    snapshot: snapshot ?? (from && `from ${from}`) ?? '-',
    details: detailsOf(entry),
  }
}

function commandLine({ mode, command, startedAt, durationMs, exit }: EndedCommand): Line {
  return {
    at: startedAt,
    what: mode === 'detached' ? 'exec -d' : 'exec',
    state: exitOf(exit),
    mood: exit.exitCode === 0 ? 'good' : 'bad',
    durationMs,
    written: '-',
    snapshot: '-',
    details: shortCommand(command),
  }
}

/** A step that took no time is not worth its words. */
const leastMs = 0.5

function detailsOf({ phases, error }: LogEntry): string {
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
  devices: 'look for device numbers',
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

const states: Record<LogEntry['state'], Pick<Line, 'mood'> & { readonly word: string }> = {
  open: { word: 'running', mood: 'doubtful' },
  done: { word: 'done', mood: 'good' },
  failed: { word: 'failed', mood: 'bad' },
  rolled_back: { word: 'killed, recovered', mood: 'doubtful' },
}
