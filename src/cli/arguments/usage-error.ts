import type { CommanderError } from 'commander'
import { InvalidInputError } from '../../model/errors.ts'

/** Commander's complaint about a command line, as one of our errors. */
export function usageError(error: CommanderError, verb: string | undefined): InvalidInputError {
  const [message = '', ...rest] = error.message.replace(/^error: /, '').split('\n')
  return new InvalidInputError(message, {
    remedy: remedyOf(error, { message, suggestion: rest.join(' ') }, verb),
  })
}

/** Verbs that people know from other tools. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ['list', '`forkpoint ls` lists environments, and `forkpoint snapshots` lists snapshots'],
  ['delete', '`forkpoint rm` removes environments, and `forkpoint rm-snapshot` removes snapshots'],
  ['destroy', '`forkpoint rm` removes environments'],
  ['remove', '`forkpoint rm` removes environments, and `forkpoint rm-snapshot` removes snapshots'],
  ['stop', '`forkpoint pause` freezes an environment, and `forkpoint rm` ends it'],
  ['start', '`forkpoint resume` continues an environment, and `forkpoint create` makes one'],
  ['new', '`forkpoint create` makes an environment'],
  ['commit', '`forkpoint snapshot ENV` takes a snapshot'],
  ['checkpoint', '`forkpoint snapshot ENV` takes a snapshot'],
  ['save', '`forkpoint snapshot ENV` takes a snapshot'],
  ['branch', '`forkpoint fork ENV|SNAPSHOT` makes new environments'],
  ['clone', '`forkpoint fork ENV|SNAPSHOT` makes new environments'],
  ['rollback', '`forkpoint restore ENV SNAPSHOT` returns to a snapshot'],
  ['revert', '`forkpoint restore ENV SNAPSHOT` returns to a snapshot'],
  ['history', '`forkpoint log ENV` shows what was done, and `forkpoint tree` the snapshots'],
  ['info', '`forkpoint inspect ENV|SNAPSHOT` shows everything about it'],
  ['ssh', '`forkpoint shell ENV` opens a terminal'],
])

function remedyOf(
  error: CommanderError,
  { message, suggestion }: { readonly message: string; readonly suggestion: string },
  verb: string | undefined,
): string {
  const foreign = /^unknown command '(.*)'$/.exec(message)?.[1]
  if (foreign !== undefined && otherWords.has(foreign)) return otherWords.get(foreign) ?? ''
  const [, meant] = /\(Did you mean (.*)\?\)/.exec(suggestion) ?? []
  if (meant !== undefined) return `did you mean ${meant}?`
  if (verb === 'exec' && error.code === 'commander.unknownOption') {
    return 'put -- before the command, so that its options are not taken for ours'
  }
  return `see forkpoint ${verb === undefined ? '' : `${verb} `}--help`
}
