import type { Command, Option } from 'commander'

interface OptionShape {
  readonly short: string | undefined
  readonly long: string | undefined
  readonly description: string
  readonly takesValue: boolean
  /** the accepted values, if they are few */
  readonly choices: readonly string[]
}

/** What completes a positional argument; a branch is an environment or a snapshot. */
type ArgumentShape = Completed | 'file' | 'choice' | 'other'
type Completed = 'environment' | 'snapshot' | 'branch'

export interface VerbShape {
  readonly name: string
  readonly summary: string
  readonly options: readonly OptionShape[]
  readonly argument: ArgumentShape
  readonly choices: readonly string[]
}

export interface ProgramShape {
  readonly options: readonly OptionShape[]
  readonly verbs: readonly VerbShape[]
}

/** The input of completion scripts, taken from the program itself. */
export function describeProgram(program: Command): ProgramShape {
  const help = program.createHelp()
  const commands = help.visibleCommands(program).filter((command) => command.name() !== 'help')
  return {
    options: help.visibleOptions(program).map(describeOption),
    verbs: commands.map((command) => ({
      name: command.name(),
      summary: command.summary(),
      options: help.visibleOptions(command).map(describeOption),
      argument: describeArgument(command),
      choices: command.registeredArguments[0]?.argChoices ?? [],
    })),
  }
}

/** The command that lists the values of an argument. */
export function listingOf(argument: Completed): string {
  const what = argument === 'environment' ? '' : ` ${argument}`
  return `forkpoint __complete${what} 2>/dev/null`
}

/** The words of an option, as completion offers them. */
export function optionWords(options: readonly OptionShape[]): string[] {
  return options.flatMap(({ short, long }) => [short, long].filter((word) => word !== undefined))
}

function describeOption(option: Option): OptionShape {
  return {
    short: option.short,
    long: option.long,
    description: option.description,
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
  }
}

function describeArgument(command: Command): ArgumentShape {
  const [first] = command.registeredArguments
  if (first === undefined) return 'other'
  if (first.name() === 'src') return 'file'
  const words = command.registeredArguments.flatMap((argument) => argument.name().split('|'))
  const takesSnapshot = words.includes('snapshot')
  if (words.includes('env')) return takesSnapshot ? 'branch' : 'environment'
  if (takesSnapshot) return 'snapshot'
  return first.argChoices === undefined ? 'other' : 'choice'
}
