import { Command } from 'commander'
import { version } from '../model/values/version.ts'
import { addGlobals } from './arguments/globals.ts'
import { verbs } from './arguments/verbs.ts'
import type { Cli } from './cli.ts'
import { styledLines } from './render/layout/text.ts'

/** Every verb on the command line: the one it runs, and rarely another. */
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

/** The program; a verb that is not loaded is only a line in the help. */
export function buildProgram(cli: Cli, loaded: ReadonlyMap<string, Command>): Command {
  const { stdout, stderr } = cli.streams
  const program = new Command('forkpoint')
    .description('Live Linux environments that can be branched.')
    .usage('[options] VERB …')
    .commandsGroup('Verbs:')
    .version(version, '-V, --version', 'show the version')
    // Words after the verb belong to the verb: without this, `--` would be lost on the way to it.
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
    for (const each of [command, ...command.commands]) {
      each.copyInheritedSettings(program)
      addGlobals(each)
    }
    program.addCommand(command, { hidden: verb.hidden ?? false })
  }
  return program
}
