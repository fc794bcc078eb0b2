import type { Forest, ForestNode, NodeId } from './forest.ts'

export type StatusFilter = 'all' | 'environments' | 'running' | 'asleep' | 'snapshots'

export interface Filter {
  readonly words: string
  readonly status: StatusFilter
  /** `key` or `key=value`; empty: any */
  readonly label: string
}

export const noFilter: Filter = { words: '', status: 'all', label: '' }

/** The nodes that a filter means; null: it excludes none. */
export function foundBy({ nodes }: Forest, filter: Filter): ReadonlySet<NodeId> | null {
  const words = filter.words.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0 && filter.status === 'all' && filter.label === '') return null
  const found = new Set<NodeId>()
  for (const node of nodes.values()) {
    if (!hasStatus(node, filter.status) || !hasLabel(node, filter.label)) continue
    const text = searchText(node)
    if (words.every((word) => text.includes(word))) found.add(node.id)
  }
  return found
}

/** Every label there is, as `key=value`, the most frequent first. */
export function labelsIn({ nodes }: Forest): string[] {
  const counts = new Map<string, number>()
  for (const { labels } of nodes.values()) {
    for (const [key, value] of Object.entries(labels)) {
      const label = `${key}=${value}`
      counts.set(label, (counts.get(label) ?? 0) + 1)
    }
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([label]) => label)
}

function hasStatus(node: ForestNode, status: StatusFilter): boolean {
  switch (status) {
    case 'all':
      return true
    case 'environments':
      return node.kind === 'environment'
    case 'running':
      return node.kind === 'environment' && node.status === 'running'
    case 'asleep':
      return node.kind === 'environment' && ['paused', 'released'].includes(node.status)
    case 'snapshots':
      return node.kind === 'snapshot'
  }
}

function hasLabel({ labels }: ForestNode, wanted: string): boolean {
  if (wanted === '') return true
  const [key = '', ...rest] = wanted.split('=')
  return rest.length === 0 ? key in labels : labels[key] === rest.join('=')
}

function searchText(node: ForestNode): string {
  const message = node.kind === 'snapshot' ? node.message : ''
  const labels = Object.entries(node.labels).flat().join(' ')
  return `${node.name ?? ''} ${node.id} ${message} ${node.status} ${labels}`.toLowerCase()
}
