import { commandOf, inWords } from '../linux/command-line.ts'
import { BackendError, type BackendErrorFacts } from '../model/errors.ts'
import { NotStillError } from './not-still.ts'
import { attaching, meaningOf } from './refusals.ts'

/** Inside. Only the host's own clients can get in its way. */
const agentPid = 1

/** How long the environment may take to get out of a state that passes by itself. */
const patienceMs = 2000

/** The host's pid of a process, for a CRIU that ran in another pid namespace and knows another. */
export type HostPid = (pid: number) => number

/** Why CRIU refused an environment: which process, what it has, and what to do about it. */
export function explainDump(
  log: string,
  facts: BackendErrorFacts,
  foreign?: HostPid,
): BackendError {
  const named = processIn(log)
  const pid = named === null ? null : (foreign?.(named) ?? named)
  const process = pid === null ? null : commandOf(pid)
  const isAgent = foreign === undefined && process?.pid === agentPid
  const refusal = isAgent ? attaching : meaningOf(log, pid)
  if (refusal === null) {
    const [why = 'CRIU gave no reason'] = log.split('\n').filter(Boolean)
    return new BackendError(`cannot capture ${inWords(process)}: criu dump failed: ${why}`, {
      ...facts,
      remedy:
        'end that process and try again, or use `--mode filesystem`; `forkpoint log --criu` prints the details',
      detail: { process },
    })
  }
  const { object, remedy, passes } = refusal
  const message = `cannot capture ${inWords(process)}: it has ${object}`
  const all = { ...facts, remedy, detail: { object, process } }
  if (passes === 'soon') return new NotStillError(message, all, patienceMs)
  return new BackendError(message, { ...all, temporary: passes === 'outside' })
}

/** As CRIU sees it; null if the log does not say. */
function processIn(log: string): number | null {
  const said =
    /Dump \w+ \(pid: (\d+)\) failed/.exec(log) ??
    /\(ctty pid_real (\d+)/.exec(log) ??
    /\(pid[:=] ?(\d+)\)/.exec(log)
  return said?.[1] === undefined ? null : Number(said[1])
}
