import { printable } from '../../../model/text/printable.ts'
import type { MakeCommand } from '../../make-command.ts'
import { write } from '../../write.ts'

/** Prints what completion scripts ask for: names and ids of environments or snapshots, one per line. */
export const make: MakeCommand = (command, cli) =>
  command.argument('[what]').action((what: string | undefined, _options, self) =>
    cli.perform(self, async (context) => {
      try {
        await using forkpoint = await context.open()
        const things = [
          ...(what === 'snapshot' ? [] : await forkpoint.list()),
          ...(what === 'snapshot' || what === 'branch' ? await forkpoint.snapshots() : []),
        ]
        const words = things.map(({ id, name }) => name ?? id)
        await write(context.streams.stdout, words.map((word) => `${printable(word)}\n`).join(''))
      } catch {
        // An error would land in the middle of somebody's prompt; no completion is better.
      }
    }),
  )
