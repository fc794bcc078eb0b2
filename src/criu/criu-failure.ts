import { readFile } from 'node:fs/promises'
import { commandOf, inWords } from '../linux/command-line.ts'
import { BackendError } from '../model/errors.ts'
import { explainDump } from './explain-dump.ts'

interface ErrorFacts {
  readonly lastWords: string
  readonly logPath: string
}

/** CRIU's own last words are the error lines of its log; the rest of it stays in the file. */
export async function criuFailure(
  doing: 'dump' | 'restore',
  logPath: string,
  stderr: string,
): Promise<BackendError> {
  const log = await readFile(logPath, 'utf8').catch(() => '')
  // Where our own part failed, CRIU only knows that it did.
  const words = [
    ...stderr.split('\n').filter((line) => /\(errno \d+\)$/.test(line)),
    ...lastWordsOf(log),
  ]
  const facts = { lastWords: words.join('\n'), logPath }
  const stray = /^find inside '(.*)': (.*) \(errno \d+\)$/m.exec(stderr)
  if (stray) return strayName(stray[1] ?? '', stray[2] ?? '', facts)
  const refusal = doing === 'dump' ? explainDump(words.join('\n')) : null
  if (!refusal) {
    const why = words.at(0) ?? (stderr.trim() || 'no reason given')
    const remedy = 'run `forkpoint doctor`; the log has the rest'
    return new BackendError(`criu ${doing} failed: ${why}`, { ...facts, remedy })
  }
  const command = refusal.pid === null ? null : commandOf(refusal.pid)
  return new BackendError(`cannot capture ${inWords(command)}: it has ${refusal.object}`, {
    ...facts,
    remedy: refusal.remedy,
    detail: {
      ...{ object: refusal.object, process: command },
      ...(refusal.passing && { passing: true }),
    },
  })
}

/** See native/cell/criu/names.c. CRIU, which is root outside, would follow it. */
function strayName(name: string, why: string, facts: ErrorFacts): BackendError {
  return new BackendError(
    `cannot restore /${name}: it is open, and its name no longer leads there without links (${why})`,
    {
      ...facts,
      remedy: 'end the process that has it open, or close it there, and take the snapshot again',
      detail: { name },
    },
  )
}

/** The error lines of a CRIU log, without time, file and line, and without what is harmless. */
export function lastWordsOf(log: string): string[] {
  return log
    .split('\n')
    .filter((line) => /\bError \(/.test(line) && !line.includes("Can't setup RLIMIT_NOFILE"))
    .map((line) => line.replace(/^.*?Error \([^)]*\):\s*/, ''))
}
