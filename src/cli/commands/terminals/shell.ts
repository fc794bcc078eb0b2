import { InvalidInputError } from '../../../model/errors.ts'
import { printable } from '../../../model/text/printable.ts'
import { exitCodeOfCommand } from '../../exec/exit-code.ts'
import { addExamples, envArgument } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'
import { OwnTerminal } from '../../shell/own-terminal.ts'
import { runSession, type SessionEnd } from '../../shell/session.ts'
import { write } from '../../write.ts'

interface Options {
  readonly name?: string
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Open an interactive terminal inside. Ctrl-] d leaves it running; opening it again shows the same screen.',
      )
      .argument('<env>', envArgument)
      .option('--name <name>', 'which terminal; the first use starts it (default: main)')
      .action((reference: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          if (context.globals.json) {
            throw new InvalidInputError('`shell` cannot print JSON', {
              remedy: 'run commands with `forkpoint exec --json`',
            })
          }
          using interrupts = new Interrupts()
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          const end = await onOwnTerminal((own) =>
            runSession(environment.terminal(options.name), own, interrupts.signal),
          )
          if (end.kind === 'exited') return context.endWith(exitCodeOfCommand(end))
          const back = ['forkpoint', 'shell', environment.name ?? environment.id]
          if (options.name !== undefined) back.push('--name', options.name)
          await write(
            context.streams.stderr,
            `\r\ndetached; come back with \`${printable(back.join(' '))}\`\n`,
          )
        }),
      ),
    [
      ['forkpoint shell web', 'the terminal "main"; Ctrl-] d leaves it running'],
      ['forkpoint shell web --name build', 'a second terminal'],
    ],
  )

async function onOwnTerminal(
  session: (own: OwnTerminal) => Promise<SessionEnd>,
): Promise<SessionEnd> {
  using own = OwnTerminal.take()
  return await session(own)
}
