import { readFile } from 'node:fs/promises'
import { BackendError } from '../model/errors.ts'
import { explainDump, type HostPid } from './explain-dump.ts'
import type { Doing, KeptLogs } from './kept-logs.ts'
import { unstoppable } from './not-still.ts'

interface ErrorFacts {
  readonly lastWords: string
  readonly logPath: string | undefined
}

/**
 * An error with the error lines of CRIU's log; the rest of the log is kept in a file. `foreign` is given for
 * processes that Forkpoint did not start.
 */
export async function criuFailure(
  doing: Doing,
  written: string,
  stderr: string,
  logs: KeptLogs,
  foreign?: HostPid,
): Promise<BackendError> {
  // CRIU may have died before it wrote one; then only its worker's stderr can say why.
  const log = await readFile(written, 'utf8').catch(() => '')
  // If our own part failed, only stderr says why: CRIU merely knows that it did.
  const ours = stderr.split('\n').filter((line) => /\(errno \d+\)$/.test(line))
  const words = [...ours, ...lastWordsOf(log)]
  const facts = { lastWords: words.join('\n'), logPath: logs.keep(doing, stderr + log) }
  const stray = /^find inside '(.*)': (.*) \(errno \d+\)$/m.exec(stderr)
  if (stray) return strayName(stray[1] ?? '', stray[2] ?? '', facts)
  const restless = doing === 'dump' ? unstoppable(words.join('\n'), facts, foreign) : null
  if (restless) return restless
  if (doing === 'dump') return explainDump(words.join('\n') || stderr.trim(), facts, foreign)
  const why = words.at(0) ?? (stderr.trim() || 'no reason given')
  const remedy = 'run `forkpoint doctor`; `forkpoint log --criu` prints the details'
  const permanent = ours.length === 0 && isOfImages(words)
  return new BackendError(`criu restore failed: ${why}`, { ...facts, remedy, permanent })
}

/** See native/cell/criu/stall.c. */
export async function stalled(written: string, logs: KeptLogs): Promise<BackendError> {
  const log = await readFile(written, 'utf8').catch(() => '')
  return new BackendError('the dump did not end: CRIU did nothing for several seconds', {
    lastWords: lastWordsOf(log).join('\n'),
    logPath: logs.keep('dump', log),
    remedy:
      'try again; if it happens again, look for a process in state D with `ps` on the host, and end it',
  })
}

/** See native/cell/criu/names.c. CRIU is root outside, and would follow the links. */
function strayName(name: string, why: string, facts: ErrorFacts): BackendError {
  return new BackendError(
    `cannot restore /${name}: it is open, and its name no longer leads there without links (${why})`,
    {
      ...facts,
      permanent: true,
      remedy: 'end the process that has it open, or close it there, and take the snapshot again',
      detail: { name },
    },
  )
}

/** What the machine lacks at the moment, or what somebody did to CRIU. Any other error is in the images. */
const outerCauses =
  /Cannot allocate memory|No space left|Resource temporarily|Too many open|Disk quota|Interrupted system|Input\/output error|killed by signal|Timeout reached/

function isOfImages(words: readonly string[]): boolean {
  return words.length > 0 && !words.some((line) => outerCauses.test(line))
}

/** The error lines of a CRIU log, without time, file and line number, and without harmless ones. */
export function lastWordsOf(log: string): string[] {
  return log
    .split('\n')
    .filter((line) => /\bError \(/.test(line) && !line.includes("Can't setup RLIMIT_NOFILE"))
    .map((line) => line.replace(/^.*?Error \([^)]*\):\s*/, ''))
}
