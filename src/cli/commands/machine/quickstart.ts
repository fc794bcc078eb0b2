import { addExamples } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'
import { Narrator } from '../../quickstart/narrator.ts'
import { Stage } from '../../quickstart/stage.ts'
import { cleanUp, tellStory } from '../../quickstart/story.ts'
import { plain, styleFor } from '../../render/layout/style.ts'
import { columnsOf } from '../../streams.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Show what Forkpoint does, live on this machine, in less than a minute, and clean up.',
      )
      .action((_options, self) =>
        cli.perform(self, async (context) => {
          const { streams, globals } = context
          const { stdout } = streams
          using interrupts = new Interrupts()
          const narrator = new Narrator(
            globals.json ? null : stdout,
            globals.json ? plain : styleFor(stdout, globals),
            interrupts.signal,
          )
          interrupts.signal.addEventListener('abort', () => {
            streams.stderr.write('\ninterrupted; cleaning up\n')
          })
          await using forkpoint = await context.open()
          {
            await using stage = await Stage.open(forkpoint)
            await tellStory(forkpoint, stage, narrator, columnsOf(stdout))
            await cleanUp(stage, narrator)
          }
          await narrator.end()
          if (globals.json) await context.show({ json: narrator.account, text: () => '' })
        }),
      ),
    [['forkpoint quickstart', 'nothing to type; Ctrl-C ends it and cleans up']],
  )
