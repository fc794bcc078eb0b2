import { relative } from '../../paths.ts'
import { type LayerEntry, parseRecords } from '../../records.ts'
import { endedEarly, viewCommand } from '../../view-command.ts'
import { isHiding } from '../candidates.ts'
import { type Replayed, replay } from './replay.ts'
import { parseStream } from './stream.ts'

/** Where two environments may differ, by paths inside. */
export interface SentCandidates {
  readonly paths: readonly string[]
  /** directories whose content on that side is all to be compared */
  readonly below: { readonly a: readonly string[]; readonly b: readonly string[] }
  /** where only one side hides what the layers below have */
  readonly uncovered: readonly string[]
}

/**
 * Asks btrfs how two read-only subvolumes differ, which skips everything that they share. Fails if the
 * kernel cannot tell, or if too much differs; scanning both is always possible instead.
 */
export async function sentCandidates(a: string, b: string): Promise<SentCandidates> {
  const stream = viewCommand('comparing snapshots', ['subvolume-send', a, b])
  const replayed = await replay(parseStream(stream))
  const touched = [...replayed.touched].sort()
  const [inA, inB] = await Promise.all([peek(a, touched), peek(b, touched)])
  return {
    paths: [...touched, ...inA.otherNames, ...inB.otherNames].flatMap(insidePath),
    below: belowMoved(replayed),
    uncovered: touched.filter((path) => hides(inA, path) !== hides(inB, path)).flatMap(insidePath),
  }
}

function belowMoved({ movedFrom, movedTo }: Replayed): SentCandidates['below'] {
  return { a: movedFrom.flatMap(insidePath), b: movedTo.flatMap(insidePath) }
}

const upper = 'upper/'

/** The other paths of a subvolume belong to OverlayFS, or are only a name of the moment. */
function insidePath(path: string): string[] {
  return path.startsWith(upper) ? [path.slice(upper.length - 1)] : []
}

interface Peeked {
  readonly entries: ReadonlyMap<string, LayerEntry>
  /** of files with several names: any of them may be the one that a command names */
  readonly otherNames: readonly string[]
}

/** What lies at these paths of a subvolume (native/cell/subvolumes/peek.c). */
async function peek(subvolume: string, paths: readonly string[]): Promise<Peeked> {
  const doing = 'looking into a snapshot'
  const entries = new Map<string, LayerEntry>()
  const otherNames: string[] = []
  let answers = 0
  const output = viewCommand(doing, ['subvolume-peek', subvolume], paths)
  for await (const entry of parseRecords(output)) {
    if (entry?.layer === 1) otherNames.push(relative(entry.path))
    else answers += 1
    if (entry?.layer === 0) entries.set(relative(entry.path), entry)
  }
  if (answers !== paths.length) throw endedEarly(doing)
  return { entries, otherNames }
}

function hides({ entries }: Peeked, path: string): boolean {
  const entry = entries.get(path)
  return entry !== undefined && isHiding(entry)
}
