import type { CommanderError } from 'commander'
import { InvalidInputError } from '../../model/errors.ts'

/** Commander's complaint about a command line, as one of our errors. */
export function usageError(error: CommanderError, verb: string | undefined): InvalidInputError {
  const [message = '', ...rest] = error.message.replace(/^error: /, '').split('\n')
  return new InvalidInputError(message, { remedy: remedyOf(error, rest.join(' '), verb) })
}

function remedyOf(error: CommanderError, suggestion: string, verb: string | undefined): string {
  const [, meant] = /\(Did you mean (.*)\?\)/.exec(suggestion) ?? []
  if (meant !== undefined) return `did you mean ${meant}?`
  if (verb === 'exec' && error.code === 'commander.unknownOption') {
    return 'put -- before the command, so that its options are not taken for ours'
  }
  return `see forkpoint ${verb === undefined ? '' : `${verb} `}--help`
}
