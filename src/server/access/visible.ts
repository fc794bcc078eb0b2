import type { Output } from '../../api/contract/contract.ts'
import type { FlatNode, ForkpointEvent } from '../../api/contract/data/store.ts'
import type { Control } from '../../api/control.ts'
import { NotFoundError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import type { Principal } from './principal.ts'

type Found = Output<'find'>
type Labels = Readonly<Record<string, string>>

/** What a principal can see of what is there. */
export interface Visible {
  /** What a reference means; whatever carries other labels is not found. */
  find(reference: string): Promise<Found>
  environments<T extends { readonly labels: Labels }>(all: readonly T[]): readonly T[]
  snapshots(all: Output<'snapshot.list'>): Promise<Output<'snapshot.list'>>
  operations(all: Output<'operations'>): Promise<Output<'operations'>>
  tree(nodes: readonly FlatNode[]): Promise<readonly FlatNode[]>
  hasEvent(event: ForkpointEvent): Promise<boolean>
}

export function visible(control: Control, { labels: wanted }: Principal): Visible {
  const carries = (labels: Labels) =>
    Object.entries(wanted).every(([key, value]) => labels[key] === value)
  const environmentIds = async () => {
    const all = await control.call('environment.list', { labels: wanted })
    return new Set<string>(all.map(({ id }) => id))
  }
  /** A snapshot that somebody else took of an environment belongs to it. */
  const snapshots = async (all: Output<'snapshot.list'>) => {
    const ids = await environmentIds()
    return all.filter(({ labels, environmentId }) => carries(labels) || ids.has(environmentId))
  }
  const isVisible = async (found: Found) => {
    if (carries(found.labels)) return true
    return found.kind === 'snapshot' && (await environmentIds()).has(found.environmentId)
  }
  /** Removed environments can no longer be asked for their labels. */
  const seen = new Set<string>()
  return {
    find: async (reference) => {
      const found = await control.call('find', { reference }).catch(() => null)
      if (found !== null && (await isVisible(found))) return found
      throw missing(reference)
    },
    environments: (all) => all.filter(({ labels }) => carries(labels)),
    snapshots,
    operations: async (all) => {
      const ids = await environmentIds()
      return all.filter(({ environment }) => environment !== null && ids.has(environment))
    },
    tree: async (nodes) => {
      const ids = await environmentIds()
      for (const { id } of await snapshots(await control.call('snapshot.list', {}))) ids.add(id)
      return keptNodes(nodes, ids)
    },
    hasEvent: async (event) => {
      const id = event.type === 'durable' ? event.snapshot : event.environment
      if (id === null || seen.has(id)) return id !== null
      const found = await control.call('find', { reference: id }).catch(() => null)
      if (found === null || !(await isVisible(found))) return false
      seen.add(id)
      return true
    },
  }
}

/** Without the others; a node whose parent is not shown becomes a root. */
function keptNodes(nodes: readonly FlatNode[], ids: ReadonlySet<string>): FlatNode[] {
  const kept: FlatNode[] = []
  const places = new Map<number, number>()
  nodes.forEach(({ above, node }, index) => {
    if (!ids.has(node.id)) return
    places.set(index, kept.length)
    kept.push({ above: above === null ? null : (places.get(above) ?? null), node })
  })
  return kept
}

function missing(reference: string): NotFoundError {
  return new NotFoundError(`no environment or snapshot ${quote(reference)}`, {
    remedy: 'list what there is; a token with labels only sees what carries them',
    detail: { ref: reference },
  })
}
