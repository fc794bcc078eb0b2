import { InvalidInputError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { parsedOption } from '../../arguments/options.ts'
import {
  formatAddress,
  type ListenAddress,
  parseListen,
  parsePort,
} from '../../arguments/port-address.ts'
import { addExamples, envArgument } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'

interface Options {
  readonly listen?: ListenAddress
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Listen on the host and forward connections to a port inside, until interrupted.',
      )
      .argument('<env>', envArgument)
      .argument('<port>', 'the port inside')
      .addOption(
        parsedOption(
          '--listen <[addr:]port>',
          'where to listen (default: any free port of 127.0.0.1)',
          parseListen,
        ),
      )
      .action((reference: string, portText: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          const port = parsePort(portText)
          if (port === 0) throw notInside(portText)
          using interrupts = new Interrupts()
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          await using forward = await environment.ports.forward(port, options.listen ?? {})
          const { id, name } = environment
          const { host, port: listenPort } = forward
          await context.show({
            json: { id, name, port, host, listenPort, address: formatAddress(host, listenPort) },
            text: () => formatAddress(host, listenPort),
          })
          await interrupts.arrived
        }),
      ),
    [
      ['forkpoint port web 8000', 'on a free port, which it prints'],
      ['forkpoint port web 8000 --listen 8000', 'on that port of 127.0.0.1'],
      ['forkpoint port web 8000 --listen 0.0.0.0:80', 'open to your network'],
    ],
  )

function notInside(port: string): InvalidInputError {
  return new InvalidInputError(`not a port: ${quote(port)}`, {
    remedy: 'give a number from 1 to 65535',
  })
}
