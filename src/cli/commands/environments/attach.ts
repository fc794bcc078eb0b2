import { Option } from 'commander'
import type { AttachOptions, BackendName, MemoryMode, NetMode } from '../../../index.ts'
import { memoryModes, netModes } from '../../../model/environment.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { pairsOption } from '../../arguments/options.ts'
import { addExamples } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'
import { attached } from '../../render/layout/sentences.ts'

interface Options {
  readonly name?: string
  readonly backend?: BackendName
  readonly net?: NetMode
  readonly memoryMode?: MemoryMode
  readonly env?: Readonly<Record<string, string>>
  readonly label?: Readonly<Record<string, string>>
  readonly workdir?: string
  readonly quiet?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Adopt a running container or process as an environment. It is never harmed: rm leaves it as it was, and restore starts another in its place while it continues.',
      )
      .argument('<target>', 'the name or id of a running container, or the pid of a process')
      .option('--name <name>', 'its name; unique')
      .option('--backend <name>', 'the backend that runs it')
      .addOption(
        new Option('--net <mode>', 'the network of what is made from it').choices(netModes),
      )
      .addOption(
        new Option('--memory-mode <mode>', 'how forks get their memory').choices(memoryModes),
      )
      .addOption(pairsOption('-e, --env <key=value>', 'a variable for every command'))
      .addOption(pairsOption('--label <key=value>', 'a label to find it by'))
      .option('--workdir <dir>', 'where commands start')
      .option('-q, --quiet', 'print only the id')
      .action((target: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          using interrupts = new Interrupts()
          await using forkpoint = await context.open()
          const wanted = attachOptions(target, options, interrupts.signal)
          const environment = await context.wait(`attaching to ${target}`, () =>
            forkpoint.attach(wanted),
          )
          const info = environment.lastInfo
          await context.show({
            json: info,
            text: () => (options.quiet ? info.id : attached(info, target)),
          })
        }),
      ),
    [
      ['forkpoint attach --backend docker web --name web', 'a running container'],
      ['forkpoint fork web -n 3', 'three copies of it, each in a container of its own'],
      ['forkpoint rm web', 'the container stays as it was'],
      ['forkpoint attach --backend criu 1234 --workdir /srv/app', 'a process, and its directory'],
      ['forkpoint attach --backend native container:web', 'a copy of its processes and files'],
    ],
  )

function attachOptions(target: string, options: Options, signal: AbortSignal): AttachOptions {
  const { name, backend, net, memoryMode: memory, env, label: labels, workdir } = options
  const given = withoutUndefined({ name, backend, net, memory, env, labels, workdir })
  return { ...given, target, signal }
}
