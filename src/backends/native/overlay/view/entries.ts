import { BackendError } from '../../../../model/errors.ts'
import type { Layer } from '../../cell/cell.ts'
import { layerArguments, type NativeView } from './native-view.ts'
import { relative } from './paths.ts'
import { type LayerEntry, parseRecords } from './records.ts'
import { viewCommand } from './view-command.ts'

/** Everything that one layer holds, whiteouts included, as it comes. */
export function scanLayer(layer: Layer): AsyncGenerator<LayerEntry> {
  return present(viewCommand('reading a layer', ['scan', layer.path]))
}

/** What each path is, null where there is nothing; sorted paths are fast. */
export async function lookup(
  view: NativeView,
  paths: readonly string[],
): Promise<(LayerEntry | null)[]> {
  if (paths.length === 0 || view.layers.length === 0) return paths.map(() => null)
  const args = ['lookup', ...layerArguments(view)]
  const entries: (LayerEntry | null)[] = []
  const output = viewCommand('looking up files', args, paths.map(relative))
  for await (const entry of parseRecords(output)) entries.push(entry)
  if (entries.length !== paths.length) throw new BackendError('looking up files ended early')
  return entries
}

/** Each of these paths that is there, and everything below it, as it comes. */
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
