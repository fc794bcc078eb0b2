import { randomBytes } from 'node:crypto'
import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import type { Fields } from '../wire/fields.ts'
import { Op } from '../wire/wire.ts'

interface CommonSpec {
  /** Chosen by the caller or generated; finds the command again. */
  readonly id?: string
  /** A shell command line, or words that the program gets exactly as given. */
  readonly command: string | readonly string[]
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly timeoutMs?: number | undefined
  /** Time between asking a command to end and killing it; default 2 s. */
  readonly graceMs?: number | undefined
  /** `streamed` if the caller will write and end stdin; default `none`, an empty one. */
  readonly stdin?: 'none' | 'streamed'
}

/** Runs in a persistent shell, which keeps the command's changes, such as variables. */
export interface ShellCommandSpec extends CommonSpec {
  readonly mode: 'shell'
  /** Default `main`. */
  readonly shell?: string | undefined
}

/**
 * Runs in a copy of a persistent shell, which keeps nothing and holds up nobody. An agent that is too old for
 * copies takes the shell itself.
 */
export interface DetachedCommandSpec extends CommonSpec {
  readonly mode: 'detached'
  /** Default `main`. */
  readonly shell?: string | undefined
}

/** Runs as a new process. */
export interface ProcessCommandSpec extends CommonSpec {
  readonly mode: 'process'
  /** A name or uid, either with `:group`. */
  readonly user?: string | undefined
}

export type CommandSpec = ShellCommandSpec | DetachedCommandSpec | ProcessCommandSpec

/** Flag of `exec.start`, and of a record of `exec.list`. */
export const inCopyFlag = 1

const idShape = /^[A-Za-z0-9_-]{1,64}$/

export function newCommandId(): string {
  return `c-${randomBytes(12).toString('base64url')}`
}

export function checkCommandId(id: string): string {
  if (idShape.test(id)) return id
  throw new InvalidInputError(`not a command id: ${quote(id)}`, {
    remedy: 'use 1 to 64 letters, digits, "_" or "-"',
  })
}

/** The fields of `exec.start`. */
export function startFields(id: string, spec: CommandSpec): Fields {
  return {
    op: Op.execStart,
    id: checkCommandId(id),
    modeExec: spec.mode === 'process' ? 0 : 1,
    flags: spec.mode === 'detached' ? inCopyFlag : undefined,
    ...commandFields(spec),
    shell: spec.mode === 'process' ? undefined : spec.shell,
    user: spec.mode === 'process' ? spec.user : undefined,
    cwd: spec.cwd,
    env: spec.env === undefined ? undefined : envEntries(spec.env),
    timeoutMs: spec.timeoutMs === undefined ? undefined : Math.ceil(spec.timeoutMs),
    graceMs: spec.graceMs === undefined ? undefined : Math.ceil(spec.graceMs),
    stdin: spec.stdin === 'streamed' ? 1 : 0,
  }
}

function commandFields(spec: CommandSpec): Fields {
  const { command } = spec
  if (typeof command === 'string') return { command }
  if (command.length === 0)
    throw new InvalidInputError('the command has no words', { remedy: 'give at least the program' })
  return spec.mode === 'process' ? { argv: command } : { command: quoteWords(command) }
}

/** A command line that a POSIX shell splits into exactly these words. */
export function quoteWords(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
}

/** `K=V` entries, with names that cannot be mistaken for another variable. */
export function envEntries(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([name, value]) => {
    if (name === '' || name.includes('=')) {
      throw new InvalidInputError(`not a variable name: ${quote(name)}`, {
        remedy: 'give a name that is not empty and has no "="',
      })
    }
    return `${name}=${value}`
  })
}
