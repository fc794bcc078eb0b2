import type { Argument, Command, Option } from 'commander'

interface OptionShape {
  readonly short: string | undefined
  readonly long: string | undefined
  readonly description: string
  readonly takesValue: boolean
  /** the accepted values, if they are few */
  readonly choices: readonly string[]
}

/** What completes a positional argument; a branch is an environment or a snapshot. */
export interface ArgumentShape {
  readonly kind: Completed | 'file' | 'choice' | 'other'
  readonly choices: readonly string[]
}
type Completed = 'environment' | 'snapshot' | 'branch'

export interface VerbShape {
  readonly name: string
  readonly summary: string
  readonly options: readonly OptionShape[]
  /** by position; the last one repeats if it is `variadic` */
  readonly arguments: readonly ArgumentShape[]
  readonly isVariadic: boolean
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
      arguments: command.registeredArguments.map(describeArgument),
      isVariadic: command.registeredArguments.at(-1)?.variadic ?? false,
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

function describeArgument(argument: Argument): ArgumentShape {
  const { argChoices: choices = [] } = argument
  return { kind: kindOf(argument.name(), choices), choices }
}

function kindOf(name: string, choices: readonly string[]): ArgumentShape['kind'] {
  if (choices.length > 0) return 'choice'
  const words = name.split('|')
  const takesSnapshot = words.includes('snapshot')
  if (words.includes('env')) return takesSnapshot ? 'branch' : 'environment'
  if (takesSnapshot) return 'snapshot'
  if (name === 'others') return 'branch'
  return name === 'src' || name === 'dst' ? 'file' : 'other'
}
