import { type Log, type LogLevel, silentLog } from '../model/log.ts'
import { destinationFor } from './destination.ts'

/** Keys whose values are never logged, at the top or one level down: they are likely to be secret. */
const hidden = ['env', 'token', 'password', 'secret', 'stdin', 'args', 'argv', 'command']

/** The log of one open Forkpoint, on stderr. Loads pino only if somebody wants to read it. */
export async function openLog(level: LogLevel): Promise<Log> {
  if (level === 'silent') return silentLog
  const { pino } = await import('pino')
  const options = {
    level,
    base: { pid: process.pid },
    serializers: { err: shownError },
    redact: { paths: hidden.flatMap((key) => [key, `*.${key}`]), censor: '[hidden]' },
  }
  const logger = pino(options, destinationFor(process.stderr))
  return {
    debug: (facts, message) => logger.debug(facts, message),
    info: (facts, message) => logger.info(facts, message),
    warn: (facts, message) => logger.warn(facts, message),
    error: (facts, message) => logger.error(facts, message),
  }
}

/** Leaves out an error's other facts, which may hold the output of a program inside. */
function shownError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { name, message } = error
  const code = 'code' in error ? error.code : undefined
  const remedy = 'remedy' in error ? error.remedy : undefined
  return { name, message, code, remedy }
}
