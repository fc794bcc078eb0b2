/** A shell answers at once, unless it has just become busy. */
const patienceMs = 3000

/** Far beyond what a shell has to say; code inside decides how much it prints. */
export const mostBytes = 2 ** 20

export interface ShellCommand {
  readonly mode: 'shell'
  readonly shell: string
  readonly command: string
  readonly timeoutMs: number
}

export function inShell(shell: string, command: string): ShellCommand {
  return { mode: 'shell', shell, command, timeoutMs: patienceMs }
}
