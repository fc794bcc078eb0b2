import { Command } from 'commander'
import { InvalidInputError } from '../../../model/errors.ts'
import { execute, lineOf } from '../../exec/execute.ts'
import { addExamples } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'
import { labelOf } from '../../render/environment.ts'
import { say } from '../../write.ts'
import {
  type Options as CreateFlags,
  createOptions,
  make as makeCreate,
} from '../environments/create.ts'

interface Options extends CreateFlags {
  readonly rm?: true
}

/** The options of `create` that a short life needs. */
const shared = new Set([
  ...['--from', '--name', '--backend', '--net', '--memory', '--cpus'],
  ...['--env', '--label', '--workdir', '--login'],
])

export const make: MakeCommand = (command, cli) => {
  command
    .description(
      'Create an environment, run a command in its shell, and exit with its exit code. The environment stays, unless --rm is given.',
    )
    .usage('[options] -- COMMAND…')
    .argument('[command...]', 'one word is a shell command line; several are passed as they are')
    .option('--rm', 'remove the environment afterwards')
  for (const option of makeCreate(new Command(), cli).options) {
    if (shared.has(option.long ?? '')) command.addOption(option)
  }
  command.action((words: string[], options: Options, self) =>
    cli.perform(self, async (context) => {
      if (words.length === 0) {
        throw new InvalidInputError('no command was given', { remedy: 'write it after --' })
      }
      using interrupts = new Interrupts()
      const { signal } = interrupts
      await using forkpoint = await context.open()
      const environment = await context.wait('creating an environment', () =>
        forkpoint.create(createOptions(options, [], signal)),
      )
      const reference = environment.name ?? environment.id
      try {
        const command = lineOf(words)
        await execute(context, {
          environment,
          reference,
          command,
          options: {},
          stdin: undefined,
          signal,
          isLast: options.rm,
        })
      } finally {
        if (options.rm) await environment.remove()
        else await say(context.streams.stderr, `forkpoint: kept ${labelOf(environment.lastInfo)}\n`)
      }
    }),
  )
  return addExamples(command, [
    ['forkpoint run --rm -- make test', "with a copy of this machine's files"],
    ['forkpoint run --rm --from dir:. --net nat -- npm ci', 'with the current directory in it'],
  ])
}
