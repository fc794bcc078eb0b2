import { printable } from '../../model/printable.ts'
import type { MakeCommand } from '../make-command.ts'
import { write } from '../write.ts'

/** What completion scripts ask for: the names and ids of environments or snapshots, a line each. */
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
        // Nothing to offer is no reason to write an error into somebody's prompt.
      }
    }),
  )
