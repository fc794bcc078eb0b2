import { outermost } from '../../../../linux/mask/outermost.ts'
import { NotFoundError } from '../../../../model/errors.ts'
import type { InsideEntry } from '../../../../model/files/file-change.ts'
import { quote } from '../../../../model/text/quote.ts'
import { Budget } from './budget.ts'
import { list } from './entries.ts'
import type { IdRange, NativeView } from './native-view.ts'
import { isInternal, parseInsidePath } from './paths.ts'
import { toFileEntry } from './records.ts'

/** Everything at and below these paths, as it is found. */
export async function entriesBelow(
  view: NativeView,
  paths: readonly string[],
  ids: IdRange,
): Promise<InsideEntry[]> {
  const roots = outermost(paths.map(parseInsidePath))
  const missing = new Set(roots)
  const budget = new Budget('listing files')
  const entries: InsideEntry[] = []
  for await (const entry of list(view, roots)) {
    const layer = view.layers[entry.layer]
    const { path } = entry
    missing.delete(path)
    if (layer === undefined || isInternal(path)) continue
    budget.spend(path)
    entries.push({ path, ...toFileEntry(entry, layer, ids) })
  }
  for (const path of missing) throw nothingAt(path)
  return entries
}

function nothingAt(path: string): NotFoundError {
  return new NotFoundError(`there is nothing at ${quote(path)} inside`, {
    remedy: 'name a path that exists there; what is mounted, such as /proc, cannot be copied out',
  })
}
