import { resolve } from 'node:path'
import { Option } from 'commander'
import type {
  BackendName,
  CreateOptions,
  EnvironmentInfo,
  MemoryMode,
  NetMode,
  WakeMode,
} from '../../../index.ts'
import { memoryModes, netModes } from '../../../model/environment.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { type IdlePolicy, parseIdle, parseTtl, wakeModes } from '../../../model/policy.ts'
import { sourceForms } from '../../../model/source.ts'
import { quote } from '../../../model/text/quote.ts'
import {
  parseCpus,
  parseDiskLimit,
  parseIoRate,
  parseMemoryLimit,
  parseNetRate,
  parsePids,
} from '../../../model/values/quantities.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { listOption, pairsOption, parsedListOption, parsedOption } from '../../arguments/options.ts'
import { type Forwarded, parseForward } from '../../arguments/port-address.ts'
import type { Context } from '../../context.ts'
import { addExamples } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'
import { type Forwarding, forwardPorts } from '../../ports/forwarding.ts'
import { created } from '../../render/layout/sentences.ts'
import { styleFor } from '../../render/layout/style.ts'
import { say } from '../../write.ts'

export interface Options {
  readonly from: string
  readonly name?: string
  readonly backend?: BackendName
  readonly net?: NetMode
  readonly netAllow?: readonly string[]
  readonly netDenyOut?: readonly string[]
  readonly netAllowOut?: readonly string[]
  readonly memory?: number
  readonly memoryMode?: MemoryMode
  readonly cpus?: number
  readonly pids?: number
  readonly disk?: number
  readonly ioRead?: number
  readonly ioWrite?: number
  readonly netRate?: number
  readonly ttl?: number
  readonly idle?: IdlePolicy
  readonly wake?: WakeMode
  readonly env?: Readonly<Record<string, string>>
  readonly label?: Readonly<Record<string, string>>
  readonly workdir?: string
  readonly login?: true
  readonly processes?: true
  readonly runArg?: readonly string[]
  readonly exportDir?: string
  readonly start?: true
  readonly publish?: readonly Forwarded[]
  readonly quiet?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Create an environment and wait until commands can run in it.')
      .usage('[options] [NAME] [-- COMMAND…]')
      .argument('[name]', 'its name; unique')
      .argument('[command...]', 'a program to start in its working directory, and its arguments')
      .option('--from <source>', `the files it starts with: ${sourceForms}`, 'host')
      .option('--name <name>', 'the same as NAME')
      .option('--backend <name>', 'the backend that runs it')
      .addOption(new Option('--net <mode>', 'its network').choices(netModes))
      .addOption(
        listOption('--net-allow <cidr>', 'a network of the host or a neighbour that it may reach'),
      )
      .addOption(
        listOption('--net-deny-out <cidr>', 'a network that it does not reach; 0.0.0.0/0: any'),
      )
      .addOption(
        listOption('--net-allow-out <cidr>', 'a network that it reaches although it is denied'),
      )
      .addOption(parsedOption('--memory <size>', 'memory limit, such as 2g', parseMemoryLimit))
      .addOption(
        new Option('--memory-mode <mode>', 'how forks get their memory').choices(memoryModes),
      )
      .addOption(parsedOption('--cpus <n>', 'CPU limit, such as 2 or 0.5', parseCpus))
      .addOption(parsedOption('--pids <n>', 'limit on processes and threads', parsePids))
      .addOption(parsedOption('--disk <size>', 'limit on its files, such as 10g', parseDiskLimit))
      .addOption(parsedOption('--io-read <rate>', 'reads per second, such as 50m', parseIoRate))
      .addOption(parsedOption('--io-write <rate>', 'writes per second, such as 20m', parseIoRate))
      .addOption(
        parsedOption('--net-rate <rate>', 'traffic per second and direction', parseNetRate),
      )
      .addOption(parsedOption('--ttl <duration>', 'remove it after this time', parseTtl))
      .addOption(
        parsedOption(
          '--idle <duration=action>',
          'if nobody uses it: pause, release or remove it, such as 10m=pause',
          parseIdle,
        ),
      )
      .addOption(new Option('--wake <mode>', 'which sleep ends when it is used').choices(wakeModes))
      .addOption(pairsOption('-e, --env <key=value>', 'a variable for every command'))
      .addOption(pairsOption('--label <key=value>', 'a label to find it by'))
      .option('--workdir <dir>', 'where commands start; made if it does not exist')
      .addOption(
        parsedListOption(
          '-p, --publish <[[addr:]local:]port>',
          'forward a port of the host to this one inside, until interrupted',
          parseForward,
        ),
      )
      .option('--login', 'PATH is that of a login shell, with what ~/.profile adds')
      .option('--processes', 'snapshots must hold processes')
      .addOption(
        listOption(
          '--run-arg <word>',
          'an argument of `docker run`, such as --run-arg=--publish=80',
        ),
      )
      .option('--export-dir <dir>', 'where podman-criu keeps checkpoints')
      .option('--start', 'start the entry point and command of its image')
      .option('-q, --quiet', 'print only the id')
      .action((first: string | undefined, more: string[], given: Options, self) =>
        cli.perform(self, async (context) => {
          const { name, words } = splitArguments([first ?? [], more].flat(), cli.argv)
          const options = named(given, name)
          using interrupts = new Interrupts()
          await using forkpoint = await context.open()
          const wanted = createOptions(options, words, interrupts.signal)
          const environment = await context.wait(
            `creating ${options.name ?? 'an environment'}`,
            () => forkpoint.create(wanted),
          )
          if (options.start) await environment.startImage()
          const info = environment.lastInfo
          const show = async (forwards: readonly Forwarding[] = []) => {
            const ports = forwards.map(({ address, port }) => `${address} leads to port ${port}`)
            await context.show({
              json: { ...info, ...(forwards.length > 0 && { ports: forwards }) },
              text: () => (options.quiet ? info.id : [created(info), ...ports].join('\n')),
            })
            if (options.net === undefined && !options.quiet) await hintAtNetwork(context, info)
          }
          const { publish = [] } = options
          if (publish.length === 0) return await show()
          await forwardPorts(context, environment, publish, interrupts, show)
        }),
      ),
    [
      ['forkpoint create web', "a copy of this machine's files"],
      ['forkpoint create try --from dir:. --net nat', 'with the current directory in it'],
      ['id=$(forkpoint create -q --memory 2g --cpus 2)', 'for a script'],
      ['forkpoint create --from dockerfile:./task --name task', 'built from a Dockerfile'],
      [
        'forkpoint create --from image:nginx --start -p 8080:80',
        'with the server of the image running',
      ],
      ['forkpoint create --backend docker --processes --from image:debian:12', 'with processes'],
      ['forkpoint create --ttl 2h --idle 10m=release', 'frees its memory when nobody uses it'],
      ['forkpoint create --from snapshot:ready --name again', 'a fork of a snapshot'],
      ['forkpoint create --from dir:. -- python3 server.py', 'with a program running in it'],
    ],
  )

/** A person who did not choose a network may expect one. */
async function hintAtNetwork(context: Context, { id, name, net }: EnvironmentInfo): Promise<void> {
  const { stderr } = context.streams
  if (net.mode !== 'none' || context.globals.json || stderr.isTTY !== true) return
  const { faint } = styleFor(stderr, context.globals)
  const hint = `it has no network; \`forkpoint net ${name ?? id} nat\` gives it one`
  await say(stderr, `${faint(hint)}\n`)
}

interface Arguments {
  readonly name: string | undefined
  /** after `--` */
  readonly words: readonly string[]
}

/** What stands before `--` is a name, and never a program to start. */
function splitArguments(all: readonly string[], given: readonly string[]): Arguments {
  const dashes = given.indexOf('--')
  const after = dashes === -1 ? 0 : given.length - dashes - 1
  const [name, stray] = all.slice(0, all.length - after)
  if (stray === undefined) return { name, words: all.slice(all.length - after) }
  throw new InvalidInputError(`unexpected argument: ${quote(stray)}`, {
    remedy: 'give one name, and a command after --',
  })
}

function named(options: Options, name: string | undefined): Options {
  if (name === undefined) return options
  if (options.name === undefined || options.name === name) return { ...options, name }
  throw new InvalidInputError(`two names were given: ${quote(name)} and ${quote(options.name)}`, {
    remedy: 'leave out --name',
  })
}

export function createOptions(
  options: Options,
  words: readonly string[],
  signal: AbortSignal,
): CreateOptions {
  const { from, name, backend, env, label, workdir, login } = options
  const { net, netAllow, netDenyOut, netAllowOut } = options
  const { memoryMode, processes, runArg, exportDir, ttl, idle, wake } = options
  return withoutUndefined({
    from,
    signal,
    name,
    backend,
    net,
    netAllow,
    netDenyOut,
    netAllowOut,
    memory: memoryMode,
    env,
    labels: label,
    workdir,
    login,
    processes,
    extraArgs: runArg,
    exportDir: exportDir && resolve(exportDir),
    command: words.length > 0 ? words : undefined,
    limits: limitsOf(options),
    ttlMs: ttl,
    idle,
    wake,
  })
}

function limitsOf({ memory, cpus, pids, disk, ioRead, ioWrite, netRate }: Options) {
  return withoutUndefined({
    memoryBytes: memory,
    cpus,
    pids,
    diskBytes: disk,
    ioReadBytes: ioRead,
    ioWriteBytes: ioWrite,
    netBytes: netRate,
  })
}
