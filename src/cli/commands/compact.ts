import type { Compaction } from '../../index.ts'
import { formatBytes } from '../../model/quantities.ts'
import { addExamples, snapshotArgument } from '../help.ts'
import type { MakeCommand } from '../make-command.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Makes one layer of all that a snapshot is made of, which later snapshots then build on. ' +
          'Without a snapshot, does so for those that environments go on from.',
      )
      .argument('[snapshot]', snapshotArgument)
      .action((reference: string | undefined, _options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const names = new Map((await forkpoint.snapshots()).map(({ id, name }) => [id, name]))
          const done = await context.wait('compacting', () => forkpoint.compact(reference))
          await context.show({
            json: { compacted: done.map((one) => ({ ...one, name: names.get(one.id) ?? null })) },
            text: (style) =>
              done.map((one) => sentence(one, names.get(one.id) ?? one.id)).join('\n') ||
              style.faint('nothing to compact'),
          })
        }),
      ),
    [
      ['forkpoint compact ready', 'fold the chain up to this snapshot'],
      ['forkpoint compact', 'what every environment goes on from'],
    ],
  )

function sentence(done: Compaction, name: string): string {
  const { layersBefore, layersAfter, bytes, memoryBytes } = done
  const folded = [
    ...(layersBefore === layersAfter
      ? []
      : [`folded ${layersBefore} layers of ${name} into one of ${formatBytes(bytes)}`]),
    ...(memoryBytes === 0 ? [] : [`gathered ${formatBytes(memoryBytes)} of memory of ${name}`]),
  ]
  return folded.join('\n') || `${name} has nothing to fold`
}
