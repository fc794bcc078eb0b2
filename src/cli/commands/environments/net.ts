import { Argument } from 'commander'
import type { NetChange, NetMode } from '../../../index.ts'
import { netModes } from '../../../model/environment.ts'
import { counted } from '../../../model/text/counted.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { listOption } from '../../arguments/options.ts'
import { formatAddress } from '../../arguments/port-address.ts'
import { addExamples, envArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { labelOf, type Named } from '../../render/environment.ts'

interface Options {
  readonly allow?: readonly string[]
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Show or change the network of an environment. Programs inside continue; a change cuts their ' +
          'connections to the outside.',
      )
      .argument('<env>', envArgument)
      .addArgument(new Argument('[mode]', 'the network from now on').choices(netModes))
      .addOption(
        listOption('--allow <cidr>', 'a network of the host or a neighbour that it may reach'),
      )
      .action((reference: string, mode: NetMode | undefined, { allow }: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          const wanted = mode ?? (allow && 'nat')
          const cut = wanted && (await environment.setNet(wanted, withoutUndefined({ allow })))
          const { id, name, status, net } = environment.lastInfo
          await context.show({
            json: { id, name, status, ...net, ...(cut && { cut }) },
            text: () => [sentence({ id, name }, net), ...cutOff(cut ?? [])].join('\n'),
          })
        }),
      ),
    [
      ['forkpoint net web nat', 'outgoing connections through the host'],
      ['forkpoint net web none', 'none anymore; forwarded ports keep working'],
      ['forkpoint net web nat --allow 192.168.1.10/32', 'and one address of the host'],
      ['forkpoint net web', 'what it has'],
    ],
  )

interface Net {
  readonly mode: NetMode
  readonly allow: readonly string[]
}

function sentence(environment: Named, { mode, allow }: Net): string {
  if (mode === 'none') return `${labelOf(environment)} has no network`
  const also = allow.length === 0 ? '' : `, and ${allow.join(', ')}`
  return `${labelOf(environment)} reaches other hosts through this one (${mode})${also}`
}

const mostShown = 5

function cutOff(cut: NetChange['cut']): string[] {
  if (cut.length === 0) return []
  const shown = cut.slice(0, mostShown).map(({ address, port }) => formatAddress(address, port))
  const more = cut.length > mostShown ? ` and ${cut.length - mostShown} more` : ''
  return [`cut ${counted(cut.length, 'connection')}: ${shown.join(', ')}${more}`]
}
