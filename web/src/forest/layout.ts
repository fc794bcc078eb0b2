import {
  descendantsOf,
  type EnvironmentNode,
  type Forest,
  type ForestNode,
  type NodeId,
} from './forest.ts'

/** One line of the tree, from top to bottom. */
export interface Row {
  readonly node: ForestNode
  /** how far to the right its stem is */
  readonly lane: number
  /** 1 for a root */
  readonly level: number
  /** the row of the node it grew from; null: a root */
  readonly above: number | null
  /** its place among those that grew from the same node, from 1, and how many they are */
  readonly place: number
  readonly siblings: number
  readonly fold: 'leaf' | 'open' | 'folded'
  /** nodes below it that are not shown */
  readonly hidden: number
  /** it is only shown because something below it was searched for */
  readonly isContext: boolean
}

export interface LayoutOptions {
  readonly folded: ReadonlySet<NodeId>
  /** what a search found; null: everything is shown */
  readonly found: ReadonlySet<NodeId> | null
}

/**
 * The rows of a forest. A lane is the life of one environment: its snapshots are on it, one below the other, and it
 * is itself the tip. What was forked grows to the right, between a snapshot and the next one of the same lane, so
 * that no two lines ever cross.
 */
export function layoutRows(forest: Forest, { folded, found }: LayoutOptions): Row[] {
  const shown = found === null ? null : withAncestors(forest, found)
  const stems = stemsOf(forest)
  const rows: Row[] = []
  const open = forest.roots
    .filter((id) => shown?.has(id) ?? true)
    .map((id, index, all) => step(id, 0, 1, null, index, all.length))
    .reverse()
  // An own stack: chains of snapshots are longer than that of the language is deep.
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const node = forest.nodes.get(next.id)
    if (node === undefined) continue
    const below = (forest.children.get(next.id) ?? []).filter((id) => shown?.has(id) ?? true)
    const isFolded = below.length > 0 && folded.has(next.id) && found === null
    const at = rows.length
    rows.push({
      node,
      lane: next.lane,
      level: next.level,
      above: next.above,
      place: next.place,
      siblings: next.siblings,
      fold: below.length === 0 ? 'leaf' : isFolded ? 'folded' : 'open',
      hidden: isFolded ? descendantsOf(forest, next.id).length : 0,
      isContext: found !== null && !found.has(next.id),
    })
    if (isFolded) continue
    const stem = stems.get(next.id) ?? (below.length === 1 ? below[0] : undefined)
    const sides = below.filter((id) => id !== stem)
    const ordered = stem !== undefined && below.includes(stem) ? [...sides, stem] : sides
    const steps = ordered.map((id, index) => {
      const lane = id === stem ? next.lane : next.lane + 1
      return step(id, lane, next.level + 1, at, index, ordered.length)
    })
    open.push(...steps.reverse())
  }
  return rows
}

interface Step extends Pick<Row, 'lane' | 'level' | 'above' | 'place' | 'siblings'> {
  readonly id: NodeId
}

function step(
  id: NodeId,
  lane: number,
  level: number,
  above: number | null,
  index: number,
  siblings: number,
): Step {
  return { id, lane, level, above, place: index + 1, siblings }
}

/** For each snapshot, the child that continues its lane: the way to the environment that it is a snapshot of. */
function stemsOf({ nodes, parents }: Forest): ReadonlyMap<NodeId, NodeId> {
  const stems = new Map<NodeId, NodeId>()
  const isOf = (id: NodeId, owner: EnvironmentNode['id']) => {
    const node = nodes.get(id)
    return node?.kind === 'snapshot' && node.environmentId === owner
  }
  for (const node of nodes.values()) {
    if (node.kind !== 'environment') continue
    let below: NodeId = node.id
    for (let at = parents.get(below); at !== undefined; at = parents.get(below)) {
      if (!isOf(at, node.id)) break
      stems.set(at, below)
      below = at
    }
  }
  // Of an environment that was removed, the newest snapshot is the tip.
  for (const [id, parent] of parents) {
    const [node, above] = [nodes.get(id), nodes.get(parent)]
    if (node?.kind !== 'snapshot' || above?.kind !== 'snapshot') continue
    if (!stems.has(parent) && node.environmentId === above.environmentId) stems.set(parent, id)
  }
  return stems
}

function withAncestors({ parents }: Forest, found: ReadonlySet<NodeId>): ReadonlySet<NodeId> {
  const all = new Set(found)
  for (const id of found) {
    for (let at = parents.get(id); at !== undefined && !all.has(at); at = parents.get(at)) {
      all.add(at)
    }
  }
  return all
}
