import { addExamples, envArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { labelOf } from '../../render/environment.ts'

interface Options {
  readonly release?: boolean
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Freeze every process of an environment. Nothing inside notices.')
      .argument('<env>', envArgument)
      .option('--release', 'keep only a snapshot on disk, and free the memory')
      .action((reference: string, { release = false }: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          await context.wait(`pausing ${reference}`, () => environment.pause({ release }))
          const { lastInfo: info } = environment
          await context.show({
            json: info,
            text: () => `${release ? 'released' : 'paused'} ${labelOf(info)}`,
          })
        }),
      ),
    [
      ['forkpoint pause web', 'use no CPU for a while'],
      ['forkpoint pause web --release', 'for a long time: `resume` brings it back from disk'],
    ],
  )
