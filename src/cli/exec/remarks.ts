import { printable } from '../../model/text/printable.ts'
import { formatDuration } from '../../model/values/quantities.ts'

/** What a user has to know about a command that the shell runs one after the other. */
interface Ahead {
  readonly id: string
  readonly command: string
  readonly durationMs?: number | null
}

const longestLine = 60

/** The beginning of a command, on one line. */
export function shortCommand(command: string, longest = longestLine): string {
  const [first = '', ...more] = command.trim().split('\n')
  const isCut = more.length > 0 || first.length > longest
  return printable(isCut ? `${first.slice(0, longest - 1)}…` : first)
}

/** To whoever waits for the shell. */
export function waitsFor(env: string, { id, command, durationMs }: Ahead): string {
  const since = durationMs == null ? '' : `, which has run for ${formatDuration(durationMs)}`
  return (
    `forkpoint: waiting for ${id} (${shortCommand(command)})${since}\n` +
    `  remedy: wait, end it with \`forkpoint kill ${env} ${id}\`, or run beside it with --process or another --shell\n`
  )
}

/** After Ctrl-C, about a command that does not end at once. */
export function leftBehind(env: string, id: string): string {
  return (
    `forkpoint: ${id} was interrupted and has not ended yet; it is killed in 2 s\n` +
    `  remedy: see the rest of its output with \`forkpoint logs ${env} ${id}\`\n`
  )
}

/** After Ctrl-C, about a command that nobody has confirmed yet. */
export function notBegun(env: string): string {
  return (
    `forkpoint: ${env} has not answered yet, so the command may still begin\n` +
    `  remedy: see \`forkpoint ps ${env}\`, and end it with \`forkpoint kill\`\n`
  )
}

/** About a shell that a command ended. */
export const shellEnded =
  'forkpoint: the command ended the shell: its directory, variables and functions are gone, and the next command gets a new one\n' +
  '  remedy: put `exit`, `exec` and `set -e` in parentheses, or use --process\n'
