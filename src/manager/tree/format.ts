import { printable } from '../../model/text/printable.ts'
import { formatBytes } from '../../model/values/quantities.ts'
import type { EnvironmentBranch } from '../branch.ts'
import type { ManagedSnapshot } from './nodes.ts'

/** How the parts of a tree are shown; each is optional. */
export interface TreePaint {
  readonly name?: (text: string) => string
  readonly faint?: (text: string) => string
  readonly branch?: (text: string) => string
}

const same = (text: string) => text

interface Item {
  readonly node: ManagedSnapshot
  readonly lead: string
  readonly below: string
}

/** One line per snapshot: ● physical, ○ virtual, with the branches that continue from it. */
export function formatSnapshotTree(
  nodes: readonly ManagedSnapshot[],
  branches: readonly EnvironmentBranch[],
  { name = same, faint = same, branch = same }: TreePaint = {},
): string {
  if (nodes.length === 0) return faint('no snapshots yet')
  const children = childrenByParent(nodes)
  const stack: Item[] = (children.get(null) ?? [])
    .map((node) => ({ node, lead: '', below: '' }))
    .reverse()
  const lines: string[] = []
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { node, lead } = item
    const here = branches
      .filter(({ base }) => base === node.id)
      .map((one) => branch(branchText(one)))
    const mark = node.kind === 'physical' ? '●' : '○'
    const title = name(printable(node.name === null ? node.id : `${node.name} (${node.id})`))
    lines.push([`${faint(lead)}${mark} ${title}`, faint(detailOf(node)), ...here].join('  '))
    stack.push(...itemsBelow(item, children.get(node.id) ?? []).reverse())
  }
  return lines.join('\n')
}

/** By id; those whose parent is not in the tree are roots, under null. */
function childrenByParent(
  nodes: readonly ManagedSnapshot[],
): Map<string | null, ManagedSnapshot[]> {
  const ids = new Set(nodes.map(({ id }) => id as string))
  const children = new Map<string | null, ManagedSnapshot[]>()
  for (const node of nodes) {
    const parent = node.parent !== null && ids.has(node.parent) ? node.parent : null
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [node])
    else siblings.push(node)
  }
  return children
}

/** The newest continues in its parent's column, so that only branches move to the right. */
function itemsBelow({ below }: Item, children: readonly ManagedSnapshot[]): Item[] {
  return children.map((node, index) =>
    index === children.length - 1
      ? { node, lead: below, below }
      : { node, lead: `${below}├─`, below: `${below}│ ` },
  )
}

function branchText({ id, current }: EnvironmentBranch): string {
  return printable(current ? `▸ ${id} *` : `▸ ${id}`)
}

function detailOf(node: ManagedSnapshot): string {
  const size = node.bytes === null ? 'not counted yet' : formatBytes(node.bytes)
  if (node.kind === 'physical') return size
  const count = node.commands.length
  return `virtual, ${count} ${count === 1 ? 'command' : 'commands'}`
}
