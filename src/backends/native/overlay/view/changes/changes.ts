import { isBelow, outermost, pathOfKey, treeKey } from '../../../../../linux/mask/outermost.ts'
import type { ChangedFile, FileChange } from '../../../../../model/files/file-change.ts'
import type { ChangesOptions } from '../../../../backend.ts'
import type { Layer } from '../../../cell/cell.ts'
import { Budget } from '../budget.ts'
import { digests, sameContent } from '../contents.ts'
import { list, lookup, scanLayer } from '../entries.ts'
import { type IdRange, type NativeView, viewOf } from '../native-view.ts'
import { byText, isInternal, parseInsidePath } from '../paths.ts'
import { type LayerEntry, toFileEntry } from '../records.ts'
import { type Difference, isHiding, restrict, splitLayers, uncoveredPaths } from './candidates.ts'
import { classify } from './classify.ts'
import { findRenames, isAddedFile, isDeletedFile, renameCandidates } from './renames.ts'
import type { Asking } from './sent/compare-subvolumes.ts'
import type { SentCandidates } from './sent/sent-candidates.ts'
import { countVanished, vanishedDirectories } from './vanished.ts'

/** Paths compared together, which limits the memory that their entries take. */
const batchSize = 8192

interface Comparison {
  readonly ids: IdRange
  /** how to ask the file system where the topmost layers differ; absent: they are always scanned */
  readonly ask?: Asking
}

/**
 * How the files of `b` differ from those of `a`, sorted by path. Reads only layers that are not in both,
 * and the common ones where only one side hides them.
 */
export async function changesBetween(
  a: NativeView,
  b: NativeView,
  options: ChangesOptions & Comparison,
): Promise<FileChange[]> {
  const filters = options.paths?.map(parseInsidePath) ?? null
  const paths = await candidates(a, b, filters, options.ask)
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

/** Every path that may differ, once, sorted as a tree. */
async function candidates(
  a: NativeView,
  b: NativeView,
  filters: readonly string[] | null,
  ask: Asking | undefined,
): Promise<string[]> {
  const layers = splitLayers(a.layers, b.layers)
  const canAsk = ask !== undefined && layers.a.length === 1 && layers.b.length === 1
  const quick = new Found(filters, canAsk ? ask.quickEntries : Number.POSITIVE_INFINITY)
  if (await addScanned(quick, layers, filters)) return quick.sorted()
  const sent = canAsk ? await ask.compare(a, b) : null
  const found = new Found(filters)
  if (sent === null) await addScanned(found, layers, filters)
  else await addSent(found, sent, { a, b, common: viewOf(layers.common) })
  return found.sorted()
}

/** Adds everything that differs by its layers. False if there is more than `found` accepts. */
async function addScanned(
  found: Found,
  layers: Difference,
  filters: readonly string[] | null,
): Promise<boolean> {
  const [inA, inB] = await Promise.all([found.scan(layers.a), found.scan(layers.b)])
  if (found.isFull) return false
  const roots = restrict(uncoveredPaths(inA, inB), filters)
  for await (const { path } of list(viewOf(layers.common), roots)) found.add(path)
  return true
}

async function addSent(
  found: Found,
  { paths, below, uncovered }: SentCandidates,
  views: { readonly a: NativeView; readonly b: NativeView; readonly common: NativeView },
): Promise<void> {
  for (const path of paths) found.add(path)
  const add = async (view: NativeView, roots: readonly string[]) => {
    for await (const { path } of list(view, restrict(outermost(roots), found.filters))) {
      found.add(path)
    }
  }
  await Promise.all([add(views.a, below.a), add(views.b, below.b), add(views.common, uncovered)])
}

/** The paths found so far that pass the filters. */
class Found {
  readonly filters: readonly string[] | null
  readonly #most: number
  readonly #budget = new Budget('comparing files')
  #scanned = 0
  #paths: string[] = []

  constructor(filters: readonly string[] | null, most: number = Number.POSITIVE_INFINITY) {
    this.filters = filters
    this.#most = most
  }

  /** Whether layers hold more than was to be scanned. */
  get isFull(): boolean {
    return this.#scanned > this.#most
  }

  /** Adds everything that these layers hold; returns the paths where they hide lower layers. */
  async scan(layers: readonly Layer[]): Promise<string[]> {
    const hiding: string[] = []
    for (const layer of layers) {
      for await (const entry of scanLayer(layer)) {
        this.#scanned += 1
        if (this.isFull) return []
        this.add(entry.path)
        if (isHiding(entry) && this.#isOnTheWay(entry.path)) hiding.push(entry.path)
      }
    }
    return hiding
  }

  add(path: string): void {
    const isWanted = this.filters?.some((filter) => isBelow(path, filter)) ?? true
    if (!isWanted || isInternal(path)) return
    this.#budget.spend(path)
    this.#paths.push(path)
  }

  sorted(): string[] {
    const keys = this.#paths.map(treeKey).sort()
    this.#paths = []
    return keys.filter((key, at) => key !== keys[at - 1]).map(pathOfKey)
  }

  #isOnTheWay(path: string): boolean {
    return this.filters?.some((each) => isBelow(path, each) || isBelow(each, path)) ?? true
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
  const doubtful = pairs.filter((pair) => haveSameSize(pair) && !isOneFile(a, b, pair))
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

function haveSameSize({ before, after }: Pair): boolean {
  return before?.type === 'file' && after?.type === 'file' && before.size === after.size
}

function isOneFile(a: NativeView, b: NativeView, { before, after }: Pair): boolean {
  return before !== null && after !== null && identity(a, before) === identity(b, after)
}

function identity(view: NativeView, entry: LayerEntry): string {
  return `${view.layers[entry.layer]?.path} ${entry.inode}`
}

function inside(view: NativeView, entry: LayerEntry | null, ids: IdRange): ChangedFile | null {
  const layer = entry && view.layers[entry.layer]
  return layer ? toFileEntry(entry, layer, ids) : null
}

/** Identifies the file at each added or deleted path, to find a file that has a name on each side. */
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

/** Finds renames by the identity of files first, and then by their content. */
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
