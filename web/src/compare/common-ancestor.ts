import { ancestorsOf, type Forest, type NodeId } from '../forest/forest.ts'

/** The last snapshot that all of them grew from; null if they have none in common. */
export function commonAncestor(forest: Forest, ids: readonly NodeId[]): NodeId | null {
  const [first, ...others] = ids.map((id) => ancestorsOf(forest, id))
  const rest = others.map((line) => new Set(line))
  return first?.find((id) => rest.every((line) => line.has(id))) ?? null
}
