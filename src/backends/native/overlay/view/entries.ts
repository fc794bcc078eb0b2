import type { Layer } from '../../cell/cell.ts'
import { layerArguments, type NativeView } from './native-view.ts'
import { relative } from './paths.ts'
import { type LayerEntry, parseRecords } from './records.ts'
import { endedEarly, viewCommand } from './view-command.ts'

/** Everything that one layer holds, including whiteouts, as it is read. */
export function scanLayer(layer: Layer): AsyncGenerator<LayerEntry> {
  return present(viewCommand('reading a layer', ['scan', layer.path]))
}

/** The entry at each path, null if there is nothing; fastest if the paths are sorted. */
export async function lookup(
  view: NativeView,
  paths: readonly string[],
): Promise<(LayerEntry | null)[]> {
  if (paths.length === 0 || view.layers.length === 0) return paths.map(() => null)
  const args = ['lookup', ...layerArguments(view)]
  const entries: (LayerEntry | null)[] = []
  const output = viewCommand('looking up files', args, paths.map(relative))
  for await (const entry of parseRecords(output)) entries.push(entry)
  if (entries.length !== paths.length) throw endedEarly('looking up files')
  return entries
}

/** Each of these paths that exists, and everything below it, as it is read. */
export async function* list(
  view: NativeView,
  paths: readonly string[],
): AsyncGenerator<LayerEntry> {
  if (paths.length === 0 || view.layers.length === 0) return
  const args = ['list', ...layerArguments(view)]
  yield* present(viewCommand('listing files', args, paths.map(relative)))
}

async function* present(output: AsyncIterable<Buffer>): AsyncGenerator<LayerEntry> {
  for await (const entry of parseRecords(output)) if (entry) yield entry
}
