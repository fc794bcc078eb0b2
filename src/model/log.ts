/** The facts of a log line: ids, paths, counts, `err`. Never a secret, never output of a command. */
export type LogFacts = Readonly<Record<string, unknown>>

export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const

/** Lines of this level and above are written. */
export type LogLevel = (typeof logLevels)[number]

type Write = (facts: LogFacts, message: string) => void

/** Where background work reports failures; has the shape of pino. */
export interface Log {
  readonly debug: Write
  readonly info: Write
  readonly warn: Write
  readonly error: Write
}

const ignore: Write = () => {}

/** The library's default, which writes nothing. */
export const silentLog: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
