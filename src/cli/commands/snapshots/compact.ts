import type { Compaction } from '../../../index.ts'
import { formatBytes } from '../../../model/values/quantities.ts'
import { addExamples, snapshotArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Squash all layers of a snapshot into one, which later snapshots then build on, and make its ' +
          'memory its own. Without a snapshot, compact the heads of all environments.',
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
      ['forkpoint compact ready', 'squash the chain up to this snapshot'],
      ['forkpoint compact', 'the head of every environment'],
    ],
  )

function sentence(done: Compaction, name: string): string {
  const { layersBefore, layersAfter, bytes, memoryBytes } = done
  const lines: string[] = []
  if (layersBefore !== layersAfter) {
    lines.push(`squashed ${layersBefore} layers of ${name} into one of ${formatBytes(bytes)}`)
  }
  if (memoryBytes !== 0) {
    lines.push(`copied ${formatBytes(memoryBytes)} of borrowed memory into ${name}`)
  }
  return lines.join('\n') || `${name} has nothing to compact`
}
