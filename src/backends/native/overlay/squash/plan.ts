import type { Layer } from '../../cell/cell.ts'
import { nameOf, squashedLayer } from './layer-name.ts'

/** Layers that are replaced by one. */
export interface Squash {
  readonly layer: Layer
  /** topmost first; an earlier squash may have made some of them */
  readonly members: readonly [Layer, ...Layer[]]
}

/**
 * How many layers of one tier become one of the next. A chain of n snapshots has log(n) tiers, at most
 * `fanIn - 1` layers of each, and each file is copied once per tier.
 */
export const fanIn = 16

/** The exponent of the largest power of `fanIn` up to the number of sealed layers in this one. */
function tierOf(layer: Layer): number | null {
  const name = nameOf(layer)
  if (name === null) return null
  let tier = 0
  for (let reach = fanIn; reach <= name.count; reach *= fanIn) tier += 1
  return tier
}

/**
 * The squashes that are due, in order. They go from the bottom up, so that snapshots that share their
 * lower layers also share the squashed ones.
 */
export function planSquash(layers: readonly Layer[]): Squash[] {
  const squashes: Squash[] = []
  for (let list = layers; ; ) {
    const members = lowestRun(list)
    if (members === null) return squashes
    const squash = { layer: squashedLayer(members), members }
    squashes.push(squash)
    list = substitute(list, [squash])
  }
}

/** The lowest `fanIn` layers of the lowest run that has at least that many of one tier. */
function lowestRun(layers: readonly Layer[]): Squash['members'] | null {
  const tiers = layers.map(tierOf)
  for (let end = layers.length; end > 0; ) {
    let top = end - 1
    while (top > 0 && tiers[top - 1] === tiers[end - 1]) top -= 1
    if (tiers[top] !== null && end - top >= fanIn) return asMembers(layers.slice(end - fanIn, end))
    end = top
  }
  return null
}

/** One squash of all layers of snapshots, if there is more than one. */
export function planSquashAll(layers: readonly Layer[]): Squash[] {
  const members = asMembers(layers.filter((layer) => nameOf(layer) !== null))
  return members === null || members.length < 2 ? [] : [{ layer: squashedLayer(members), members }]
}

function asMembers([first, ...rest]: readonly Layer[]): Squash['members'] | null {
  return first === undefined ? null : [first, ...rest]
}

/** The same files in fewer layers: replaces the members of each squash where all are in a row. */
export function substitute(
  layers: readonly Layer[],
  squashes: readonly Squash[],
): readonly Layer[] {
  let list = layers
  for (const { layer, members } of squashes) {
    const top = list.findIndex(({ path }) => path === members[0].path)
    const isHere = top >= 0 && members.every(({ path }, i) => list[top + i]?.path === path)
    if (isHere) list = list.toSpliced(top, members.length, layer)
  }
  return list
}
