import { Option } from 'commander'
import type { BackendName, CreateOptions, MemoryMode, NetMode } from '../../index.ts'
import { backendNames, memoryModes, netModes } from '../../model/environment.ts'
import { parseCpus, parseMemoryLimit, parsePids } from '../../model/quantities.ts'
import { sourceForms } from '../../model/source.ts'
import { addExamples } from '../help.ts'
import { Interrupts } from '../interrupts.ts'
import type { MakeCommand } from '../make-command.ts'
import { listOption, pairsOption, parsedOption } from '../options.ts'
import { created } from '../render/sentences.ts'

interface Options {
  readonly from: string
  readonly name?: string
  readonly backend?: BackendName
  readonly net?: NetMode
  readonly netAllow?: readonly string[]
  readonly memory?: number
  readonly memoryMode?: MemoryMode
  readonly cpus?: number
  readonly pids?: number
  readonly env?: Readonly<Record<string, string>>
  readonly label?: Readonly<Record<string, string>>
  readonly workdir?: string
  readonly quiet?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Makes an environment and waits until commands can run in it.')
      .option('--from <source>', `what its files are: ${sourceForms}`, 'host')
      .option('--name <name>', 'what to call it; unique')
      .addOption(new Option('--backend <name>', 'how it is made').choices(backendNames))
      .addOption(new Option('--net <mode>', 'its network').choices(netModes))
      .addOption(
        listOption('--net-allow <cidr>', 'a neighbouring network it may reach all the same'),
      )
      .addOption(parsedOption('--memory <size>', 'memory limit, such as 2g', parseMemoryLimit))
      .addOption(
        new Option('--memory-mode <mode>', 'how forks come by their memory').choices(memoryModes),
      )
      .addOption(parsedOption('--cpus <n>', 'cpu limit, such as 2 or 0.5', parseCpus))
      .addOption(parsedOption('--pids <n>', 'limit of processes and threads', parsePids))
      .addOption(pairsOption('-e, --env <key=value>', 'a variable of every command'))
      .addOption(pairsOption('--label <key=value>', 'a label to find it by'))
      .option('--workdir <dir>', 'where commands start')
      .option('-q, --quiet', 'print only the id')
      .action((options: Options, self) =>
        cli.perform(self, async (context) => {
          using interrupts = new Interrupts()
          await using forkpoint = await context.open()
          const wanted = createOptions(options, interrupts.signal)
          const { info } = await context.wait(`creating ${options.name ?? 'an environment'}`, () =>
            forkpoint.create(wanted),
          )
          await context.show({
            json: info,
            text: () => (options.quiet ? info.id : created(info)),
          })
        }),
      ),
    [
      ['forkpoint create --name web', "a copy of this machine's files"],
      ['forkpoint create --from dir:. --name try --net nat', 'with the current directory in it'],
      ['id=$(forkpoint create -q --memory 2g --cpus 2)', 'for a script'],
      ['forkpoint create --from snapshot:ready --name again', 'a fork of a snapshot'],
    ],
  )

function createOptions(options: Options, signal: AbortSignal): CreateOptions {
  const { from, name, backend, net, netAllow, memory, cpus, pids, env, label, workdir } = options
  const { memoryMode } = options
  return {
    ...{ from, signal },
    ...(name !== undefined && { name }),
    ...(backend !== undefined && { backend }),
    ...(net !== undefined && { net }),
    ...(netAllow !== undefined && { netAllow }),
    ...(memoryMode !== undefined && { memory: memoryMode }),
    ...(env !== undefined && { env }),
    ...(label !== undefined && { labels: label }),
    ...(workdir !== undefined && { workdir }),
    limits: {
      ...(memory !== undefined && { memoryBytes: memory }),
      ...(cpus !== undefined && { cpus }),
      ...(pids !== undefined && { pids }),
    },
  }
}
