import { BackendError } from '../../../model/errors.ts'
import type { Layer } from '../cell.ts'
import { layerArguments, type NativeView } from './native-view.ts'
import { relative } from './paths.ts'
import { type LayerEntry, parseRecords } from './records.ts'
import { viewCommand } from './view-command.ts'

/** Everything that one layer holds, whiteouts included. */
export async function scanLayer(layer: Layer): Promise<LayerEntry[]> {
  const output = viewCommand('reading a layer', ['scan', layer.path])
  const entries: LayerEntry[] = []
  for await (const entry of parseRecords(output)) if (entry) entries.push(entry)
  return entries
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

/** Each of these paths that is there, and everything below it. */
export async function list(view: NativeView, paths: readonly string[]): Promise<LayerEntry[]> {
  if (paths.length === 0 || view.layers.length === 0) return []
  const output = viewCommand(
    'listing files',
    ['list', ...layerArguments(view)],
    paths.map(relative),
  )
  const entries: LayerEntry[] = []
  for await (const entry of parseRecords(output)) if (entry) entries.push(entry)
  return entries
}
