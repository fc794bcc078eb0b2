import { InvalidInputError } from '../../model/errors.ts'
import { printable } from '../../model/printable.ts'
import { exitCodeOfCommand } from '../exec/exit-code.ts'
import { addExamples, envArgument } from '../help.ts'
import { Interrupts } from '../interrupts.ts'
import type { MakeCommand } from '../make-command.ts'
import { OwnTerminal } from '../shell/own-terminal.ts'
import { runSession, type SessionEnd } from '../shell/session.ts'
import { write } from '../write.ts'

interface Options {
  readonly name?: string
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'An interactive terminal inside. It lives on when you leave it with Ctrl-] d, and shows the same screen when you come back.',
      )
      .argument('<env>', envArgument)
      .option('--name <name>', 'which terminal; started when it is first used (default: main)')
      .action((reference: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          if (context.globals.json) {
            throw new InvalidInputError('a shell has no JSON', {
              remedy: 'run commands with `forkpoint exec --json`',
            })
          }
          using interrupts = new Interrupts()
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          const end = await onOwnTerminal((own) =>
            runSession(environment.shell(options.name), own, interrupts.signal),
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
      ['forkpoint shell web --name build', 'another one beside it'],
    ],
  )

async function onOwnTerminal(
  session: (own: OwnTerminal) => Promise<SessionEnd>,
): Promise<SessionEnd> {
  using own = OwnTerminal.take()
  return await session(own)
}
