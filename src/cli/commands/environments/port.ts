import { InvalidInputError } from '../../../model/errors.ts'
import { parsedOption } from '../../arguments/options.ts'
import {
  type Forwarded,
  type ListenAddress,
  parseForward,
  parseListen,
} from '../../arguments/port-address.ts'
import { addExamples, envArgument } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'
import { forwardPorts } from '../../ports/forwarding.ts'

interface Options {
  readonly listen?: ListenAddress
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Listen on the host and forward connections to a port inside, until interrupted or until the ' +
          'environment is removed.',
      )
      .usage('[options] ENV [[ADDR:]LOCAL:]PORT')
      .argument('<env>', envArgument)
      .argument('<port>', 'the port inside; before it, with a colon, the port of the host')
      .addOption(
        parsedOption(
          '--listen <[addr:]port>',
          'where to listen (default: any free port of 127.0.0.1)',
          parseListen,
        ),
      )
      .action((reference: string, port: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          const wanted = forwardOf(port, options)
          using interrupts = new Interrupts()
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          const { id, name } = environment
          await forwardPorts(context, environment, [wanted], interrupts, async ([forward]) =>
            context.show({ json: { id, name, ...forward }, text: () => forward?.address ?? '' }),
          )
        }),
      ),
    [
      ['forkpoint port web 8000', 'on a free port, which it prints'],
      ['forkpoint port web 8080:80', 'port 8080 of 127.0.0.1 leads to port 80 inside'],
      ['forkpoint port web 0.0.0.0:80:8000', 'open to your network'],
    ],
  )

function forwardOf(text: string, { listen }: Options): Forwarded {
  const forward = parseForward(text)
  if (listen === undefined) return forward
  if (forward.listenPort === undefined) return { ...forward, ...listen }
  throw new InvalidInputError('both the port and --listen say where to listen', {
    remedy: 'leave out one of them',
  })
}
