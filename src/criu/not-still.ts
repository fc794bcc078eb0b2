import { type Command, commandOf, inWords } from '../linux/command-line.ts'
import { BackendError, type BackendErrorFacts } from '../model/errors.ts'
import { patience } from '../model/values/patience.ts'

/** A process cannot be stopped at this moment. Once everything has run for a while, it may be possible. */
export class NotStillError extends BackendError {
  readonly patienceMs: number

  constructor(message: string, facts: BackendErrorFacts, patienceMs = patience(usualSeconds)) {
    super(message, facts)
    this.patienceMs = patienceMs
  }
}

/** How long to try. In this time everything runs, except for the moments of each try. */
const usualSeconds = 10

/** The answer of a worker, see native/cell/criu/vforks.c; null if it says something else. */
export function inVfork(answer: string): NotStillError | null {
  const [, parent, child] = /^vfork (\d+) (\d+)\n$/.exec(answer) ?? []
  if (parent === undefined) return null
  return startingProgram(commandOf(Number(parent)), commandOf(Number(child)))
}

/** CRIU met a process that it could not stop, such as one that was just ending; null if that is not it. */
export function unstoppable(
  log: string,
  facts: BackendErrorFacts,
  foreign: (pid: number) => number = (pid) => pid,
): NotStillError | null {
  const [, pid] = /Unseizable non-zombie (\d+) found|Timeout reached()/.exec(log) ?? []
  if (pid === undefined) return null
  const command = commandOf(foreign(Number(pid)))
  return new NotStillError(`cannot capture ${inWords(command)}: it cannot be stopped now`, {
    ...facts,
    remedy: 'try again, or end that process; `--mode filesystem` needs neither',
    detail: { object: 'a wait that nothing interrupts', process: command },
  })
}

/** The child still looks like its parent, so only its pid says anything. */
function startingProgram(parent: Command | null, child: Command | null): NotStillError {
  const which = child === null ? 'its child' : `its child (pid ${child.pid} inside)`
  const end = child === null ? 'end that child' : `end it with \`kill -9 ${child.pid}\` inside`
  return new NotStillError(
    `cannot capture ${inWords(parent)}: it has started a program, and ${which} does not run that program yet`,
    {
      remedy: `try again when the program runs, or ${end}; \`--mode filesystem\` needs neither`,
      detail: { object: 'a child between vfork and exec', process: parent, child },
    },
  )
}
