import type { Command } from 'commander'

export const envArgument = 'id, unique beginning of an id, or name'
export const snapshotArgument = 'id, unique beginning of an id, or name of a snapshot'
export const branchArgument = 'environment or snapshot, by id, unique beginning of an id, or name'

export const forceHelp = 'even if its last snapshot cannot be restored'
export const strictHelp =
  'refuse if a copy would not have everything, instead of listing what is lost'

export const excludeHelp = 'leave out what matches, as in .gitignore; may be repeated'
export const gitignoreHelp = 'leave out what the .gitignore files inside name'

/** Examples after the options: the command line, and what it does. */
export function addExamples(command: Command, examples: readonly [line: string, why: string][]) {
  const lines = examples.map(([line, why]) => `  # ${why}\n  $ ${line}`)
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n\n')}`)
}
