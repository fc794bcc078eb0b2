import { addExamples, envArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'

interface Options {
  readonly signal: string
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Send a signal to a command of an environment. The environment continues.')
      .argument('<env>', envArgument)
      .argument('<command>', 'its id, as `forkpoint ps` lists it')
      .option('-s, --signal <name>', 'the signal: TERM, INT, KILL, …', 'TERM')
      .action((reference: string, id: string, { signal }: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          const name = signalName(signal)
          await environment.kill(id, { signal: name })
          await context.show({ json: { id, signal: name }, text: () => `sent ${name} to ${id}` })
        }),
      ),
    [
      ['forkpoint kill web c-3fK2', 'end a command that `forkpoint ps web` lists'],
      ['forkpoint kill web c-3fK2 -s KILL', 'if it does not react'],
    ],
  )

/** `term`, `TERM` and `SIGTERM` are the same. */
function signalName(given: string): string {
  const name = given.toUpperCase()
  return name.startsWith('SIG') ? name : `SIG${name}`
}
