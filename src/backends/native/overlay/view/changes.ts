import type { FileChange, FileEntry } from '../../../../model/file-change.ts'
import type { ChangesOptions } from '../../../backend.ts'
import type { Layer } from '../../cell/cell.ts'
import { Budget } from './budget.ts'
import { isHiding, restrict, splitLayers, uncoveredPaths } from './candidates.ts'
import { classify } from './classify.ts'
import { digests, sameContent } from './contents.ts'
import { list, lookup, scanLayer } from './entries.ts'
import { type IdRange, type NativeView, viewOf } from './native-view.ts'
import { byText, isBelow, isInternal, parseInsidePath, pathOfKey, treeKey } from './paths.ts'
import { type LayerEntry, toFileEntry } from './records.ts'
import { findRenames, isAddedFile, isDeletedFile, renameCandidates } from './renames.ts'
import { countVanished, vanishedDirectories } from './vanished.ts'

/** Paths looked at together: what both sides say of them is in memory. */
const batchSize = 8192

/**
 * What became of the files of `a` in `b`, sorted by path. Only layers that are not under both are
 * read, and the common ones where one side hides them and the other does not.
 */
export async function changesBetween(
  a: NativeView,
  b: NativeView,
  options: ChangesOptions & { readonly ids: IdRange },
): Promise<FileChange[]> {
  const filters = options.paths?.map(parseInsidePath) ?? null
  const paths = await candidates(a, b, filters)
  const known = new Identities()
  const all: FileChange[] = []
  for (let at = 0; at < paths.length; at += batchSize) {
    const pairs = await lookUpBoth(a, b, paths.slice(at, at + batchSize))
    const changes = await compare(a, b, pairs, options.ids)
    if (options.renames !== 'ignored') known.remember(a, b, pairs, changes)
    for (const change of changes) all.push(change)
  }
  const vanished = vanishedDirectories(all)
  const moved = options.renames === 'ignored' ? all : await withRenames(a, b, all, known)
  const shown = options.deletions === 'listed' ? moved : countVanished(moved, vanished)
  return shown.sort((one, other) => byText(one.path, other.path))
}

/** Every path that may differ, each once, in the order of the tree. */
async function candidates(
  a: NativeView,
  b: NativeView,
  filters: readonly string[] | null,
): Promise<string[]> {
  const layers = splitLayers(a.layers, b.layers)
  const found = new Found(filters)
  const [inA, inB] = [await found.scan(layers.a), await found.scan(layers.b)]
  const roots = restrict(uncoveredPaths(inA, inB), filters)
  for await (const { path } of list(viewOf(layers.common), roots)) found.add(path)
  return found.sorted()
}

/** The paths that came up, as far as they are wanted. */
class Found {
  readonly #filters: readonly string[] | null
  readonly #budget = new Budget('comparing files')
  #paths: string[] = []

  constructor(filters: readonly string[] | null) {
    this.#filters = filters
  }

  /** Adds all that these layers hold; returns where they hide what is below them. */
  async scan(layers: readonly Layer[]): Promise<string[]> {
    const hiding: string[] = []
    for (const layer of layers) {
      for await (const entry of scanLayer(layer)) {
        this.add(entry.path)
        if (isHiding(entry) && this.#isOnTheWay(entry.path)) hiding.push(entry.path)
      }
    }
    return hiding
  }

  add(path: string): void {
    const isAsked = this.#filters?.some((filter) => isBelow(path, filter)) ?? true
    if (!isAsked || isInternal(path)) return
    this.#budget.spend(path)
    this.#paths.push(path)
  }

  sorted(): string[] {
    const keys = this.#paths.map(treeKey).sort()
    this.#paths = []
    return keys.filter((key, at) => key !== keys[at - 1]).map(pathOfKey)
  }

  #isOnTheWay(path: string): boolean {
    return this.#filters?.some((each) => isBelow(path, each) || isBelow(each, path)) ?? true
  }
}

interface Pair {
  readonly path: string
  readonly before: LayerEntry | null
  readonly after: LayerEntry | null
}

async function lookUpBoth(a: NativeView, b: NativeView, paths: readonly string[]): Promise<Pair[]> {
  const [before, after] = await Promise.all([lookup(a, paths), lookup(b, paths)])
  return paths.map((path, at) => ({
    path,
    before: before[at] ?? null,
    after: after[at] ?? null,
  }))
}

async function compare(
  a: NativeView,
  b: NativeView,
  pairs: readonly Pair[],
  ids: IdRange,
): Promise<FileChange[]> {
  const doubtful = pairs.filter((pair) => mayHoldTheSame(pair) && !isOneFile(a, b, pair))
  const same = await sameContent(
    a,
    b,
    doubtful.map(({ path }) => path),
  )
  return pairs.flatMap((pair) => {
    const before = inside(a, pair.before, ids)
    const after = inside(b, pair.after, ids)
    const isSame = same.has(pair.path) || isOneFile(a, b, pair)
    const kind = classify(before, after, isSame ? 'same' : 'different')
    const sizeDelta = (after?.sizeBytes ?? 0) - (before?.sizeBytes ?? 0)
    return kind === null ? [] : [{ path: pair.path, kind, before, after, sizeDelta }]
  })
}

function mayHoldTheSame({ before, after }: Pair): boolean {
  return before?.type === 'file' && after?.type === 'file' && before.size === after.size
}

function isOneFile(a: NativeView, b: NativeView, { before, after }: Pair): boolean {
  return before !== null && after !== null && identity(a, before) === identity(b, after)
}

function identity(view: NativeView, entry: LayerEntry): string {
  return `${view.layers[entry.layer]?.path} ${entry.inode}`
}

function inside(view: NativeView, entry: LayerEntry | null, ids: IdRange): FileEntry | null {
  const layer = entry && view.layers[entry.layer]
  return layer ? toFileEntry(entry, layer, ids) : null
}

/** Which file each path that came or went is: the same one may have a name on each side. */
class Identities {
  readonly a = new Map<string, string>()
  readonly b = new Map<string, string>()

  remember(
    a: NativeView,
    b: NativeView,
    pairs: readonly Pair[],
    changes: readonly FileChange[],
  ): void {
    const entries = new Map(pairs.map((pair) => [pair.path, pair]))
    for (const change of changes) {
      const { before, after } = entries.get(change.path) ?? {}
      if (before && isDeletedFile(change)) this.a.set(change.path, identity(a, before))
      if (after && isAddedFile(change)) this.b.set(change.path, identity(b, after))
    }
  }
}

/** First by the file itself, where it has a name on each side; then by what is in it. */
async function withRenames(
  a: NativeView,
  b: NativeView,
  changes: readonly FileChange[],
  known: Identities,
): Promise<FileChange[]> {
  if (known.a.size === 0 || known.b.size === 0) return [...changes]
  const linked = findRenames(changes, (side, path) => known[side].get(path) ?? null)
  const paths = renameCandidates(linked)
  const [inA, inB] = await Promise.all([digests(a, paths.a), digests(b, paths.b)])
  const hashes = { a: inA, b: inB }
  return findRenames(linked, (side, path) => hashes[side].get(path) ?? null)
}
