import type { CommandInfo, ProcessInfo } from '../../index.ts'
import { formatBytes, formatDuration } from '../../model/values/quantities.ts'
import { shortCommand } from '../exec/remarks.ts'
import { exitOf } from './exit.ts'
import type { Style } from './layout/style.ts'
import { type Column, table } from './layout/table.ts'

export interface Running {
  readonly commands: readonly CommandInfo[]
  readonly processes: readonly ProcessInfo[]
}

const commandColumns: readonly Column<CommandInfo>[] = [
  { title: 'COMMAND', cell: ({ id }) => id, paint: (text, _row, style) => style.strong(text) },
  { title: 'STATUS', cell: statusOf },
  {
    title: 'TIME',
    cell: ({ durationMs }) => (durationMs === null ? '-' : formatDuration(durationMs)),
  },
  { title: 'WHERE', cell: placeOf },
  { title: 'LINE', cell: ({ command }) => shortCommand(command) },
]

const processColumns: readonly Column<ProcessInfo>[] = [
  { title: 'PID', cell: ({ pid }) => String(pid) },
  { title: 'PARENT', cell: ({ parent }) => String(parent) },
  { title: 'UID', cell: ({ uid }) => String(uid) },
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'MEMORY', cell: ({ memoryBytes }) => formatBytes(memoryBytes) },
  { title: 'LINE', cell: ({ command }) => shortCommand(command) },
]

export function renderCommands(commands: readonly CommandInfo[], style: Style): string {
  return table(commandColumns, commands, style)
}

/** A table of commands and one of processes. */
export function renderRunning({ commands, processes }: Running, style: Style): string {
  const known =
    commands.length === 0 ? style.faint('no command runs') : renderCommands(commands, style)
  return `${known}\n\n${table(processColumns, processes, style)}`
}

function statusOf({ running, pid, exit }: CommandInfo): string {
  if (running) return pid === null ? 'waiting' : 'running'
  return exit === null ? 'ended' : exitOf(exit)
}

function placeOf({ mode, shell }: CommandInfo): string {
  if (mode === 'process') return 'process'
  return mode === 'detached' ? `copy of ${shell}` : `shell ${shell}`
}
