import type { SnapshotNode, TreeNode } from '../../index.ts'
import { printable } from '../../model/text/printable.ts'
import { formatAge, formatBytes } from '../../model/values/quantities.ts'
import { paintStatus } from './environment.ts'
import type { Style } from './layout/style.ts'
import { cutTo, width } from './layout/text.ts'

export interface TreeView {
  readonly nowMs: number
  /** of the terminal; undefined: lines may have any length */
  readonly columns: number | undefined
}

interface Line {
  /** the branches on the left */
  readonly lead: string
  readonly node: TreeNode
}

const gap = '  '
/** Narrower terminals have no room for the ids of nodes that have a name. */
const widthForIds = 60

/**
 * One line per node. The newest child snapshot continues in its parent's column, as in `git log --graph`,
 * so that only branches, and not long chains, move to the right.
 */
export function renderTree(roots: readonly TreeNode[], view: TreeView, style: Style): string {
  const blocks = roots.map(linesOf)
  const all = blocks.flat()
  const widest = Math.max(0, ...all.map(({ lead, node }) => width(lead) + 2 + width(nameOf(node))))
  return blocks
    .map((lines) => lines.map((line) => renderLine(line, widest, view, style)).join('\n'))
    .join('\n\n')
}

/** A stack instead of recursion: chains can be of any length. */
function linesOf(root: TreeNode): Line[] {
  const lines: Line[] = []
  const stack: { node: TreeNode; lead: string; below: string }[] = [
    { node: root, lead: '', below: '' },
  ]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const { node, lead, below } = at
    lines.push({ lead, node })
    if (node.kind !== 'snapshot') continue
    const { aside, onward } = branchesOf(node)
    const next = aside.map((child, index) => {
      const isLast = onward === undefined && index === aside.length - 1
      return {
        node: child,
        lead: `${below}${isLast ? '└─' : '├─'}`,
        below: below + (isLast ? '  ' : '│ '),
      }
    })
    if (onward !== undefined) next.push({ node: onward, lead: below, below })
    stack.push(...next.reverse())
  }
  return lines
}

function branchesOf({ children }: SnapshotNode): { aside: TreeNode[]; onward?: TreeNode } {
  const onward = children.findLast(({ kind }) => kind === 'snapshot')
  const aside = children.filter((child) => child !== onward)
  return onward === undefined ? { aside } : { aside, onward }
}

function renderLine(
  { lead, node }: Line,
  widest: number,
  { nowMs, columns }: TreeView,
  style: Style,
): string {
  const name = nameOf(node)
  const pad = ' '.repeat(widest - width(lead) - 2 - width(name))
  const isSnapshot = node.kind === 'snapshot'
  const id = (node.name === null ? '' : node.id).padEnd(node.id.length)
  const ids = columns === undefined || columns >= widthForIds ? `${gap}${id}` : ''
  const age = formatAge(node.createdAt, nowMs).padEnd(3)
  const parts: Part[] = [
    [lead, style.faint],
    [isSnapshot ? '● ' : '▸ ', isSnapshot ? style.doubtful : style.good],
    [name, node.name === null ? (text) => text : style.strong],
    [`${pad}${ids}${gap}${age}${gap}`, style.faint],
    ...(isSnapshot ? snapshotParts(node, style) : [statusPart(node.status, style)]),
  ]
  return paintCut(parts, columns)
}

type Part = [text: string, paint: (text: string) => string]

function snapshotParts(node: SnapshotNode, style: Style): Part[] {
  const size = node.ownBytes === null ? 'not counted yet' : formatBytes(node.ownBytes)
  const what = node.captured.includes('processes') ? '' : `${gap}files only`
  const message = node.message === '' ? '' : `${gap}${printable(node.message)}`
  if (node.status !== 'ready') return [[`${node.status}${message}`, style.bad]]
  return [
    [size, (text) => text],
    [what + message, style.faint],
  ]
}

function statusPart(status: Parameters<typeof paintStatus>[0], style: Style): Part {
  return [status, (text) => paintStatus(status, style)(text)]
}

/** Cut before it is painted: colours take no columns. */
function paintCut(parts: readonly Part[], columns = Number.POSITIVE_INFINITY): string {
  const text = parts.map(([part]) => part).join('')
  const cut = cutTo(text.trimEnd(), columns)
  let at = 0
  return parts
    .map(([part, paint]) => {
      const shown = cut.slice(at, at + part.length)
      at += part.length
      return shown.trim() === '' ? shown : paint(shown)
    })
    .join('')
    .trimEnd()
}

function nameOf(node: TreeNode): string {
  return printable(node.name ?? node.id)
}
