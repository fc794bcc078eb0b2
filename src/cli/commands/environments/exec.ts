import { Option } from 'commander'
import type { CommandInfo, Environment, ExecOptions, SpawnOptions } from '../../../index.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { parseTimeout } from '../../../model/values/quantities.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { pairsOption, parsedOption } from '../../arguments/options.ts'
import type { Context } from '../../context.ts'
import { execute, lineOf } from '../../exec/execute.ts'
import { exitCodeOfCommand } from '../../exec/exit-code.ts'
import { followCommand } from '../../exec/follow.ts'
import { loginScript } from '../../exec/login.ts'
import { waitsFor } from '../../exec/remarks.ts'
import { addExamples, envArgument } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'
import { say } from '../../write.ts'

interface Options {
  readonly process?: true
  readonly shell?: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly user?: string
  readonly timeout?: number
  readonly stdin?: boolean
  readonly tty?: true
  readonly login?: true
  readonly detach?: true
  readonly attach?: string
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Run a command in the persistent shell of an environment, and exit with its exit code.',
      )
      .usage('[options] ENV -- COMMAND…')
      .argument('<env>', envArgument)
      .argument('[command...]', 'one word is a shell command line; several are passed as they are')
      .option('--process', 'run it as a fresh process instead of in the shell')
      .option('--shell <name>', 'the persistent shell to use (default: main)')
      .option('-w, --cwd <dir>', 'working directory, for this command only')
      .addOption(pairsOption('-e, --env <key=value>', 'a variable, for this command only'))
      .option('-u, --user <user>', 'a fresh process as this user: name or id, either with :group')
      .addOption(
        parsedOption('--timeout <s>', 'end it after this time, with exit code 124', parseTimeout),
      )
      .option('-i, --stdin', 'pass on stdin even if it is a terminal or a device')
      .option('-n, --no-stdin', 'leave stdin alone, as in a loop that reads it')
      .option('--login', "first read the user's login files, such as ~/.profile, into the shell")
      .addOption(new Option('-t, --tty').hideHelp())
      .option('-d, --detach', 'start it in a copy of the shell, print its id and leave it running')
      .option('--attach <id>', 'follow the output of a command that was started before')
      .action((reference: string, words: string[], options: Options, self) =>
        cli.perform(self, async (context) => {
          checkRequest(reference, words, options)
          using interrupts = new Interrupts()
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          if (options.attach !== undefined) {
            return await attach(context, environment, options.attach, interrupts.signal)
          }
          const line = lineOf(words)
          if (options.login) await environment.exec(loginScript, shellOf(options))
          if (options.detach) return await detach(context, environment, line, options)
          await execute(context, {
            environment,
            reference,
            command: line,
            options: execOptions(options),
            stdin: options.stdin,
            signal: interrupts.signal,
          })
        }),
      ),
    [
      ["forkpoint exec web -- 'cd /app && export MODE=debug'", 'the shell remembers'],
      ['forkpoint exec web -- npm test', 'several words are passed as they are'],
      ['tar c . | forkpoint exec web -- tar x -C /app', 'a piped stdin is passed on'],
      [
        'id=$(forkpoint exec web -d -- make); forkpoint logs web $id -f',
        'in two steps; others can use the shell meanwhile',
      ],
      [
        'while read -r f; do forkpoint exec -n web -- test -f "$f"; done <list',
        'without -n, the first command would read the whole list',
      ],
      ['forkpoint exec web --login -- cargo build', 'with the PATH of a login shell'],
    ],
  )

function checkRequest(reference: string, words: readonly string[], options: Options): void {
  if (options.tty) {
    throw new InvalidInputError('exec has no terminal', {
      remedy: `open one with \`forkpoint shell ${reference}\``,
    })
  }
  if (options.attach !== undefined) {
    if (words.length === 0 && !options.detach) return
    throw new InvalidInputError(
      '--attach follows a command that is already running; it does not start one',
      {
        remedy: 'leave out the command and --detach',
      },
    )
  }
  if (words.length === 0) {
    throw new InvalidInputError('no command was given', { remedy: 'write it after --' })
  }
  if (options.login && isProcess(options)) {
    throw new InvalidInputError('--login reads files into the shell, and a process has none', {
      remedy: "leave out --process and --user, or run `bash -lic 'COMMAND'`",
    })
  }
  if (options.detach && options.stdin) {
    throw new InvalidInputError('--detach and --stdin cannot be used together', {
      remedy: 'leave out --stdin: a detached command has none',
    })
  }
}

async function detach(
  context: Context,
  environment: Environment,
  command: string | readonly string[],
  options: Options,
): Promise<void> {
  const name = environment.name ?? environment.id
  const onWait = (ahead: CommandInfo) => void say(context.streams.stderr, waitsFor(name, ahead))
  const handle = await environment.spawn(command, { ...execOptions(options), onWait })
  const pid = await handle.pid
  handle.detach()
  await context.show({ json: { id: handle.id, pid, running: true }, text: () => handle.id })
}

async function attach(
  context: Context,
  environment: Environment,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  if (context.globals.json) {
    throw new InvalidInputError('--attach and --json cannot be used together', {
      remedy: 'leave out --json: --attach prints output as it arrives',
    })
  }
  const result = await followCommand(environment, id, context.streams, signal)
  context.endWith(exitCodeOfCommand(result))
}

function execOptions(options: Options): Omit<SpawnOptions, 'stdin' | 'id'> {
  const { shell, cwd, env, user, timeout } = options
  const inShell = options.detach ? 'detached' : 'shell'
  const mode = isProcess(options) ? 'process' : inShell
  return withoutUndefined({ mode, shell, cwd, env, user, timeoutMs: timeout } as const)
}

/** A shell keeps its user, so another one takes a process. */
function isProcess({ process, user }: Options): boolean {
  return process === true || user !== undefined
}

function shellOf({ shell }: Options): ExecOptions {
  return shell === undefined ? {} : { shell }
}
