import { Readable } from 'node:stream'
import type { CopySpec } from '../../../backend.ts'
import { type IdRange, layerArguments, type NativeView } from './native-view.ts'
import { parseInsidePath, relative } from './paths.ts'
import { viewCommand } from './view-command.ts'

/** Files as a tar archive; see native/cell/archive/archive.c. Destroying the stream stops the work. */
export function archive(view: NativeView, specs: readonly CopySpec[], ids: IdRange): Readable {
  const input = specs.flatMap(({ from, to }) => [relative(parseInsidePath(from)), to])
  const args = ['archive', `${ids.base}:${ids.count}`, ...layerArguments(view)]
  return Readable.from(viewCommand('copying files out', args, input), { objectMode: false })
}
