import { Command } from 'commander'
import type { Cli } from './cli.ts'
import { addGlobals } from './globals.ts'
import { styledLines } from './render/text.ts'
import { verbs } from './verbs.ts'
import { version } from './version.ts'

/** Every verb that the command line mentions: the one it runs, seldom another. */
export function mentionedVerbs(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  return own.filter((word) => verbs.has(word))
}

export async function loadVerbs(
  cli: Cli,
  names: readonly string[],
): Promise<ReadonlyMap<string, Command>> {
  const loaded = new Map<string, Command>()
  const describesAll = names.some((name) => verbs.get(name)?.describesAll)
  for (const name of new Set(describesAll ? verbs.keys() : names)) {
    const verb = verbs.get(name)
    if (verb === undefined) continue
    const { make } = await verb.load()
    loaded.set(name, make(new Command(name).summary(verb.summary), cli))
  }
  return loaded
}

/** The program; a verb that is not loaded is only a line of the help. */
export function buildProgram(cli: Cli, loaded: ReadonlyMap<string, Command>): Command {
  const { stdout, stderr } = cli.streams
  const program = new Command('forkpoint')
    .description('Live Linux environments that can be branched.')
    .usage('[options] VERB …')
    .commandsGroup('Verbs:')
    .version(version, '-V, --version', 'show the version')
    // Words after the verb are the verb's: without this, `--` would be lost on the way to it.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(styledLines(text)),
      writeErr: (text) => void stderr.write(styledLines(text)),
      // Usage errors are reported like all others, by our own renderer.
      outputError: () => {},
    })
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .helpCommand('help [verb]', 'show the help of a verb')
    .addHelpText('after', '\nforkpoint VERB --help shows the options and examples of a verb.')
  addGlobals(program)
  for (const [name, verb] of verbs) {
    const command = loaded.get(name) ?? new Command(name).summary(verb.summary)
    command.copyInheritedSettings(program)
    addGlobals(command)
    program.addCommand(command, { hidden: verb.hidden ?? false })
  }
  return program
}
