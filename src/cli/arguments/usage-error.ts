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
  ['status', '`forkpoint ls` lists environments, and `forkpoint stats` shows what they use'],
  ['checkout', '`forkpoint restore ENV SNAPSHOT` returns to a snapshot'],
  ['reset', '`forkpoint restore ENV SNAPSHOT` returns to a snapshot'],
  [
    'merge',
    '`forkpoint promote FROM INTO` keeps a branch, and `forkpoint apply` brings its files here',
  ],
  ['unpause', '`forkpoint resume` continues an environment'],
  ['up', '`forkpoint create` makes an environment, and `forkpoint resume` continues one'],
  ['down', '`forkpoint rm` removes environments'],
  ['build', '`forkpoint create --from dockerfile:DIR` builds an image and starts from it'],
  ['pull', '`forkpoint create --from image:NAME` gets an image and starts from it'],
  [
    'images',
    '`forkpoint create --from image:NAME` gets one, and `forkpoint prune --images` removes them',
  ],
  ['version', '`forkpoint --version` shows it'],
  ['ssh', '`forkpoint shell ENV` opens a terminal'],
])

/** What to name, for verbs that other tools have with another meaning. */
const missingArguments: ReadonlyMap<string, string> = new Map([
  ['ps', '`forkpoint ls` lists environments, and `forkpoint ps ENV` what runs in one'],
  [
    'kill',
    '`forkpoint ps ENV` lists its commands, and `forkpoint rm ENV` ends the environment itself',
  ],
  ['logs', '`forkpoint ps ENV -a` lists its commands, and `forkpoint log ENV` shows what was done'],
  ['restore', '`forkpoint snapshots` lists snapshots, and `forkpoint ls` environments'],
  ['fork', '`forkpoint ls` lists environments, and `forkpoint snapshots` snapshots'],
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
  const missing = error.code === 'commander.missingArgument' && missingArguments.get(verb ?? '')
  if (missing) return missing
  if (verb === 'exec' && error.code === 'commander.unknownOption') {
    return 'put -- before the command, so that its options are not taken for ours'
  }
  return `see forkpoint ${verb === undefined ? '' : `${verb} `}--help`
}
