import type { Environment, SpawnOptions } from '../../../index.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { parseTimeout } from '../../../model/values/quantities.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { pairsOption, parsedOption } from '../../arguments/options.ts'
import type { Context } from '../../context.ts'
import { exitCodeOfCommand } from '../../exec/exit-code.ts'
import { followCommand } from '../../exec/follow.ts'
import { resultJson } from '../../exec/result-json.ts'
import { stdinIsGiven } from '../../exec/stdin.ts'
import { addExamples, envArgument } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'
import { write } from '../../write.ts'

interface Options {
  readonly process?: true
  readonly shell?: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly user?: string
  readonly timeout?: number
  readonly stdin?: true
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
      .option('--cwd <dir>', 'working directory, for this command only')
      .addOption(pairsOption('-e, --env <key=value>', 'a variable, for this command only'))
      .option('--user <user>', 'user to run it as: name or id, either with :group; with --process')
      .addOption(
        parsedOption('--timeout <s>', 'end it after this time, with exit code 124', parseTimeout),
      )
      .option('-i, --stdin', 'pass on stdin even if it is a terminal or a device')
      .option('--detach', 'start it, print its id and leave it running')
      .option('--attach <id>', 'follow the output of a command that was started before')
      .action((reference: string, words: string[], options: Options, self) =>
        cli.perform(self, async (context) => {
          checkRequest(words, options)
          using interrupts = new Interrupts()
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          if (options.attach !== undefined) {
            return await attach(context, environment, options.attach, interrupts.signal)
          }
          // A single word is a command line; several reach the command exactly as given.
          const line = words.length === 1 ? (words[0] ?? '') : words
          if (options.detach) return await detach(context, environment, line, options)
          await execute(context, environment, line, options, interrupts.signal)
        }),
      ),
    [
      ["forkpoint exec web -- 'cd /app && export MODE=debug'", 'the shell remembers'],
      ['forkpoint exec web -- npm test', 'several words are passed as they are'],
      ['tar c . | forkpoint exec web -- tar x -C /app', 'a piped stdin is passed on'],
      [
        'id=$(forkpoint exec web --detach -- make); forkpoint exec web --attach $id',
        'in two steps',
      ],
    ],
  )

function checkRequest(words: readonly string[], options: Options): void {
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
  if (options.detach && options.stdin) {
    throw new InvalidInputError('--detach and --stdin cannot be used together', {
      remedy: 'leave out --stdin: a detached command has none',
    })
  }
}

async function execute(
  context: Context,
  environment: Environment,
  command: string | readonly string[],
  options: Options,
  signal: AbortSignal,
): Promise<void> {
  const { stdout, stderr } = context.streams
  const passesStdin = options.stdin === true || stdinIsGiven()
  try {
    const { json } = context.globals
    const streamed = {
      stdin: passesStdin ? process.stdin : undefined,
      onStdout: json ? undefined : (chunk: Buffer) => write(stdout, chunk),
      onStderr: json ? undefined : (chunk: Buffer) => write(stderr, chunk),
    }
    const result = await environment.exec(command, {
      ...execOptions(options),
      ...withoutUndefined(streamed),
      signal,
    })
    if (json) await context.show({ json: resultJson(result), text: () => '' })
    context.endWith(exitCodeOfCommand(result))
  } finally {
    // Input that nobody reads now must not keep this process alive.
    if (passesStdin) process.stdin.destroy()
  }
}

async function detach(
  context: Context,
  environment: Environment,
  command: string | readonly string[],
  options: Options,
): Promise<void> {
  const handle = await environment.spawn(command, execOptions(options))
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
  const mode = options.process ? 'process' : 'shell'
  return withoutUndefined({ mode, shell, cwd, env, user, timeoutMs: timeout } as const)
}
