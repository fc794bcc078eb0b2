import * as z from 'zod'
import type { TreeNode } from '../../api/contract/data/store.ts'
import { tool } from '../tool.ts'
import type { Workspace } from '../workspace.ts'
import * as f from './fields.ts'

const mostNodes = 500

const node = z.object({
  kind: z.enum(['snapshot', 'environment']),
  id: z.string(),
  name: z.nullable(z.string()),
  status: z.string(),
  parent: z.nullable(z.string()).describe('id of the snapshot that it continues from'),
  message: z.string().describe('of a snapshot'),
})

type Node = z.output<typeof node>

export const treeFields = {
  nodes: z.array(node),
  text: z.string().describe('the same as a drawing'),
  total: z.number(),
}

export const tree = tool({
  name: 'tree',
  title: 'Show the tree',
  description:
    'Shows how snapshots and environments descend from each other: all of them, or only the tree of one environment. Use it to find the state to return to.',
  effect: 'reads',
  input: { environment: f.environment.optional() },
  output: treeFields,
  run: async ({ environment }, { workspace }) => await shownTree(workspace, environment),
})

export async function shownTree(workspace: Workspace, around?: string) {
  const root = around === undefined ? undefined : (await workspace.environment(around)).id
  const roots = await workspace.forkpoint.tree(root)
  const known = new Set<string>()
  for (const { id } of await workspace.environments()) known.add(id)
  for (const { id } of await workspace.snapshots()) known.add(id)
  const nodes: Node[] = []
  const lines: string[] = []
  // A stack, because chains of snapshots may be thousands long.
  const open = roots.map((each) => ({ each, parent: null as string | null, depth: 0 })).reverse()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { each, parent, depth } = next
    const isShown = known.has(each.id)
    if (isShown) {
      nodes.push(nodeOf(each, parent))
      lines.push(`${'  '.repeat(Math.min(depth, 40))}${lineOf(each)}`)
    }
    const children = each.kind === 'snapshot' ? each.children : []
    const below = isShown ? { parent: each.id, depth: depth + 1 } : { parent, depth }
    for (const child of children.toReversed()) open.push({ each: child, ...below })
  }
  const text = lines.slice(0, mostNodes).join('\n')
  return { nodes: nodes.slice(0, mostNodes), text, total: nodes.length }
}

function nodeOf(each: TreeNode, parent: string | null): Node {
  const { kind, id, name, status } = each
  const message = each.kind === 'snapshot' ? each.message.slice(0, 200) : ''
  return { kind, id, name, status, parent, message }
}

function lineOf(each: TreeNode): string {
  const { kind, id, name, status } = each
  return `${kind} ${id}${name === null ? '' : ` (${name})`} ${status}`
}
