import type { FileChange, FileEntry } from '../../../model/file-change.ts'
import type { ChangesOptions } from '../../backend.ts'
import type { Layer } from '../cell.ts'
import { hidingPaths, restrict, splitLayers, uncoveredPaths } from './candidates.ts'
import { classify } from './classify.ts'
import { digests, sameContent } from './contents.ts'
import { list, lookup, scanLayer } from './entries.ts'
import { type IdRange, type NativeView, viewOf } from './native-view.ts'
import { byText, isBelow, isInternal, parseInsidePath } from './paths.ts'
import { type LayerEntry, toFileEntry } from './records.ts'
import { findRenames, renameCandidates } from './renames.ts'
import { countVanished, vanishedDirectories } from './vanished.ts'

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
  const pairs = await lookUpBoth(a, b, paths)
  const all = await compare(a, b, pairs, options.ids)
  const vanished = vanishedDirectories(all)
  const moved = options.renames === 'ignored' ? all : await withRenames(a, b, all, pairs)
  return options.deletions === 'listed' ? moved : countVanished(moved, vanished)
}

/** Every path that may differ. */
async function candidates(
  a: NativeView,
  b: NativeView,
  filters: readonly string[] | null,
): Promise<string[]> {
  const layers = splitLayers(a.layers, b.layers)
  const [inA, inB] = await Promise.all([scanAll(layers.a), scanAll(layers.b)])
  const uncovered = uncoveredPaths(hidingPaths(inA), hidingPaths(inB))
  const below = await list(viewOf(layers.common), restrict(uncovered, filters))
  const paths = new Set<string>()
  for (const entries of [inA, inB, below]) for (const { path } of entries) paths.add(path)
  const wanted = (path: string) =>
    !isInternal(path) && (filters === null || filters.some((filter) => isBelow(path, filter)))
  return [...paths].filter(wanted).sort(byText)
}

async function scanAll(layers: readonly Layer[]): Promise<LayerEntry[]> {
  return (await Promise.all(layers.map(scanLayer))).flat()
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

/** First by the file itself, where it has a name on each side; then by what is in it. */
async function withRenames(
  a: NativeView,
  b: NativeView,
  changes: readonly FileChange[],
  pairs: readonly Pair[],
): Promise<FileChange[]> {
  const files = {
    a: new Map(pairs.flatMap(({ path, before }) => (before ? [[path, identity(a, before)]] : []))),
    b: new Map(pairs.flatMap(({ path, after }) => (after ? [[path, identity(b, after)]] : []))),
  }
  const linked = findRenames(changes, (side, path) => files[side].get(path) ?? null)
  const paths = renameCandidates(linked)
  const [inA, inB] = await Promise.all([digests(a, paths.a), digests(b, paths.b)])
  const hashes = { a: inA, b: inB }
  return findRenames(linked, (side, path) => hashes[side].get(path) ?? null)
}
