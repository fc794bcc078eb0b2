import type { Environment } from '../../api/handles/environment.ts'
import { BackendError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import { differenceOf, type LoggedCommand } from './logged-command.ts'

/** How much longer than before a command may take: a busy machine is no failure, a hang is. */
const timesLonger = 10
const leastPatienceMs = 60_000

/** Runs the commands again, in order. Throws at the first that does something else than before. */
export async function replay(
  environment: Environment,
  commands: readonly LoggedCommand[],
  of: string,
): Promise<void> {
  for (const [index, logged] of commands.entries()) {
    const timeoutMs = Math.min(2 ** 31 - 1, leastPatienceMs + timesLonger * logged.durationMs)
    const result = await environment.exec(logged.command, { ...logged.options, timeoutMs })
    const difference = differenceOf(logged, result)
    if (difference !== null) throw diverged(of, logged, index + 1, difference)
  }
}

function diverged(of: string, logged: LoggedCommand, number: number, how: string): BackendError {
  const { command } = logged
  return new BackendError(
    `cannot replay virtual snapshot ${of}: command ${number}, ${quote(command)}, is not repeatable: ${how}`,
    {
      remedy:
        'restore a snapshot before that command; take physical snapshots after such commands (decider `always`)',
      detail: {
        snapshot: of,
        number,
        command: typeof command === 'string' ? command : [...command],
      },
    },
  )
}
