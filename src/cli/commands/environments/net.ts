import { Argument } from 'commander'
import type { EnvironmentInfo, NetChange, NetMode, NetOptions } from '../../../index.ts'
import { netModes } from '../../../model/environment.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { listOption } from '../../arguments/options.ts'
import { formatAddress } from '../../arguments/port-address.ts'
import { addExamples, envArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { labelOf, type Named } from '../../render/environment.ts'
import { listsInWords } from '../../render/network.ts'

interface Options {
  readonly allow?: readonly string[]
  readonly denyOut?: readonly string[]
  readonly allowOut?: readonly string[]
  readonly clear?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Show or change the network of an environment. Programs inside continue; a change cuts their ' +
          'connections to the outside, or only those to what is denied now.',
      )
      .argument('<env>', envArgument)
      .addArgument(new Argument('[mode]', 'the network from now on').choices(netModes))
      .addOption(
        listOption('--allow <cidr>', 'a network of the host or a neighbour that it may reach'),
      )
      .addOption(
        listOption('--deny-out <cidr>', 'a network that it does not reach; 0.0.0.0/0: any'),
      )
      .addOption(
        listOption('--allow-out <cidr>', 'a network that it reaches although it is denied'),
      )
      .option('--clear', 'forget the networks that were allowed and denied before')
      .action((reference: string, mode: NetMode | undefined, options: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          const lists = listsOf(options)
          const wanted = mode ?? (Object.keys(lists).length > 0 ? 'nat' : undefined)
          const cut = wanted && (await environment.setNet(wanted, lists))
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
      ['forkpoint net web --deny-out 0.0.0.0/0 --allow-out 192.0.2.10', 'one address and no other'],
      ['forkpoint net web --clear', 'and everything again'],
      ['forkpoint net web', 'what it has'],
    ],
  )

function listsOf({ allow, denyOut, allowOut, clear }: Options): NetOptions {
  const empty = clear ? { allow: [], denyOut: [], allowOut: [] } : {}
  return { ...empty, ...withoutUndefined({ allow, denyOut, allowOut }) }
}

function sentence(environment: Named, net: EnvironmentInfo['net']): string {
  if (net.mode === 'none') return `${labelOf(environment)} has no network`
  return `${labelOf(environment)} reaches other hosts through this one (${net.mode})${listsInWords(net)}`
}

const mostShown = 5

function cutOff(cut: NetChange['cut']): string[] {
  if (cut.length === 0) return []
  const shown = cut.slice(0, mostShown).map(({ address, port }) => formatAddress(address, port))
  const more = cut.length > mostShown ? ` and ${cut.length - mostShown} more` : ''
  return [`cut ${count(cut.length)}: ${shown.join(', ')}${more}`]
}

function count(connections: number): string {
  return connections === 1 ? '1 connection' : `${connections} connections`
}
