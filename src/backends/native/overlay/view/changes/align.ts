import type { Layer } from '../../../cell/cell.ts'

type MembersOf = (layer: Layer) => readonly Layer[] | null

/**
 * The same two stacks of layers, with squashed layers expanded where that shows more common layers. What
 * lies in both stacks need not be compared, and its files are the same files.
 */
export function alignLayers(
  a: readonly Layer[],
  b: readonly Layer[],
  membersOf: MembersOf,
): [a: readonly Layer[], b: readonly Layer[]] {
  const [left, right] = [[...a], [...b]]
  for (let shared = 1; shared <= left.length && shared <= right.length; ) {
    const [one, other] = [left.at(-shared), right.at(-shared)]
    if (one === undefined || other === undefined) break
    if (one.path === other.path) {
      shared += 1
      continue
    }
    if (lowest(one, membersOf).path !== lowest(other, membersOf).path) break
    // Both begin with the same layer at the bottom, so the one with more members is expanded.
    const larger = sizeOf(one, membersOf) > sizeOf(other, membersOf) ? left : right
    const at = larger.length - shared
    const members = larger[at] && membersOf(larger[at])
    if (!members) break
    larger.splice(at, 1, ...members)
  }
  return [left, right]
}

function lowest(layer: Layer, membersOf: MembersOf): Layer {
  const below = membersOf(layer)?.at(-1)
  return below === undefined ? layer : lowest(below, membersOf)
}

function sizeOf(layer: Layer, membersOf: MembersOf): number {
  const members = membersOf(layer)
  return members === null ? 1 : members.reduce((sum, each) => sum + sizeOf(each, membersOf), 0)
}
