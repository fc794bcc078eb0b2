import type { Layer } from '../../cell/cell.ts'
import { nameOf, squashedLayer } from './layer-name.ts'

/** Layers that become one in their place. */
export interface Merge {
  readonly layer: Layer
  /** topmost first; some may come from a merge before this one */
  readonly members: readonly [Layer, ...Layer[]]
}

/**
 * So many layers of one tier become one of the next: a chain of n snapshots has at most this many
 * less one of each tier, and each file is copied once a tier, of which there are log(n).
 */
export const fanIn = 16

/** Which power of `fanIn` the number of sealed layers reaches that this one stands for. */
function tierOf(layer: Layer): number | null {
  const name = nameOf(layer)
  if (name === null) return null
  let tier = 0
  for (let reach = fanIn; reach <= name.count; reach *= fanIn) tier += 1
  return tier
}

/**
 * The merges that are due, in their order. From the bottom up, so that snapshots that have the lower
 * part of their layers in common also have the merged ones in common.
 */
export function planSquash(layers: readonly Layer[]): Merge[] {
  const merges: Merge[] = []
  for (let list = layers; ; ) {
    const members = lowestRun(list)
    if (members === null) return merges
    const merge = { layer: squashedLayer(members), members }
    merges.push(merge)
    list = substitute(list, [merge])
  }
}

/** The lowest `fanIn` layers of the lowest run that has as many of one tier. */
function lowestRun(layers: readonly Layer[]): Merge['members'] | null {
  const tiers = layers.map(tierOf)
  for (let end = layers.length; end > 0; ) {
    let top = end - 1
    while (top > 0 && tiers[top - 1] === tiers[end - 1]) top -= 1
    if (tiers[top] !== null && end - top >= fanIn) return asMembers(layers.slice(end - fanIn, end))
    end = top
  }
  return null
}

/** One merge of everything that snapshots sealed, if that is more than one layer. */
export function planFold(layers: readonly Layer[]): Merge[] {
  const members = asMembers(layers.filter((layer) => nameOf(layer) !== null))
  return members === null || members.length < 2 ? [] : [{ layer: squashedLayer(members), members }]
}

function asMembers([first, ...rest]: readonly Layer[]): Merge['members'] | null {
  return first === undefined ? null : [first, ...rest]
}

/** The same files with fewer layers: wherever all members of a merge are in a row, it stands. */
export function substitute(layers: readonly Layer[], merges: readonly Merge[]): readonly Layer[] {
  let list = layers
  for (const { layer, members } of merges) {
    const top = list.findIndex(({ path }) => path === members[0].path)
    const isHere = top >= 0 && members.every(({ path }, i) => list[top + i]?.path === path)
    if (isHere) list = list.toSpliced(top, members.length, layer)
  }
  return list
}
