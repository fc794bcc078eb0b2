import { addExamples, envArgument } from '../help.ts'
import type { MakeCommand } from '../make-command.ts'
import { labelOf } from '../render/environment.ts'

interface Options {
  readonly release?: boolean
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Freezes every process of an environment; nothing inside notices.')
      .argument('<env>', envArgument)
      .option('--release', 'keep only a snapshot on disk, and give back the memory')
      .action((reference: string, { release = false }: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          await context.wait(`pausing ${reference}`, () => environment.pause({ release }))
          const { info } = environment
          await context.show({
            json: info,
            text: () => `${release ? 'released' : 'paused'} ${labelOf(info)}`,
          })
        }),
      ),
    [
      ['forkpoint pause web', 'let the machine do something else meanwhile'],
      ['forkpoint pause web --release', 'for a long time: `resume` brings it back from disk'],
    ],
  )
