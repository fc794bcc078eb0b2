import type { Output } from 'forkpoint/client'

export type FlatNode = Output<'tree'>[number]
export type ForestNode = FlatNode['node']
export type EnvironmentNode = Extract<ForestNode, { kind: 'environment' }>
export type SnapshotNode = Extract<ForestNode, { kind: 'snapshot' }>
export type NodeId = ForestNode['id']

/** All snapshots and environments, with what grew from what. */
export interface Forest {
  readonly nodes: ReadonlyMap<NodeId, ForestNode>
  readonly roots: readonly NodeId[]
  readonly parents: ReadonlyMap<NodeId, NodeId>
  readonly children: ReadonlyMap<NodeId, readonly NodeId[]>
}

export const emptyForest: Forest = {
  nodes: new Map(),
  roots: [],
  parents: new Map(),
  children: new Map(),
}

/** From the list that the daemon sends, in which each node comes after the one above it. */
export function growForest(list: readonly FlatNode[]): Forest {
  const nodes = new Map<NodeId, ForestNode>()
  const parents = new Map<NodeId, NodeId>()
  const children = new Map<NodeId, NodeId[]>()
  const roots: NodeId[] = []
  for (const { above, node } of list) {
    nodes.set(node.id, node)
    const parent = above === null ? undefined : list[above]?.node.id
    if (parent === undefined) {
      roots.push(node.id)
      continue
    }
    parents.set(node.id, parent)
    const beside = children.get(parent)
    if (beside === undefined) children.set(parent, [node.id])
    else beside.push(node.id)
  }
  return { nodes, roots, parents, children }
}

/** From a node up to its root, without the node itself. */
export function ancestorsOf({ parents }: Forest, id: NodeId): NodeId[] {
  const found: NodeId[] = []
  for (let at = parents.get(id); at !== undefined; at = parents.get(at)) found.push(at)
  return found
}

/** Everything that grew from a node. */
export function descendantsOf({ children }: Forest, id: NodeId): NodeId[] {
  const found: NodeId[] = []
  const open = [...(children.get(id) ?? [])]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    found.push(next)
    open.push(...(children.get(next) ?? []))
  }
  return found
}

export function environmentsOf({ nodes }: Forest): EnvironmentNode[] {
  return [...nodes.values()].filter((node) => node.kind === 'environment')
}

/** The environment that a node is, or is a snapshot of: their ink is the same. */
export function ownerOf(node: ForestNode): EnvironmentNode['id'] {
  return node.kind === 'environment' ? node.id : node.environmentId
}

/** What a person calls it. */
export function nameOf({ name, id }: Pick<ForestNode, 'name' | 'id'>): string {
  return name ?? shortId(id)
}

const shownIdLength = 8

export function shortId(id: string): string {
  return id.slice(0, shownIdLength)
}
