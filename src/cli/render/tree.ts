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

/**
 * One line per node. The snapshots of an environment, and the environment itself, hang on one rail, so that a
 * line grows straight down and nothing above it moves. What was forked from a snapshot follows it, one rail
 * further to the right.
 */
export function renderTree(roots: readonly TreeNode[], view: TreeView, style: Style): string {
  const blocks = roots.map(linesOf)
  const all = blocks.flat()
  const columns = all.map(({ lead, node }) => width(lead) + 2 + width(nameOf(node)))
  const layout = { ...view, widest: Math.max(0, ...columns) }
  const ids = hasRoomForIds(all, layout) ? 'shown' : 'dropped'
  return blocks
    .map((lines) => lines.map((line) => renderLine(line, { ...layout, ids }, style)).join('\n'))
    .join('\n\n')
}

interface Layout extends TreeView {
  /** columns of the longest name, with everything left of it */
  readonly widest: number
  readonly ids: 'shown' | 'dropped'
}

/** The ids of nodes that have a name are the first to go: sizes cannot be looked up elsewhere. */
function hasRoomForIds(
  lines: readonly Line[],
  { columns, widest, nowMs }: Omit<Layout, 'ids'>,
): boolean {
  if (columns === undefined) return true
  const facts = lines.map(
    ({ node }) => width(node.id) + width(ageOf(node, nowMs)) + width(factOf(node)),
  )
  return widest + 3 * gap.length + Math.max(0, ...facts) <= columns
}

/** A node, and what its line begins with: `rail` continues below it. */
interface Place {
  readonly node: TreeNode
  /** before its own rail */
  readonly before: string
  readonly below: string
  readonly at: 'begin' | 'middle'
}

/** A stack instead of recursion: chains can be of any length. */
function linesOf(root: TreeNode): Line[] {
  const lines: Line[] = []
  const stack: Place[] = [{ node: root, before: '', below: '', at: 'begin' }]
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    const { node, before, below, at } = place
    const { aside, onward } = branchesOf(node)
    lines.push({ lead: before + railOf(at, onward, before), node })
    const rail = below + (onward === undefined ? '  ' : '│ ')
    const next = aside.map((child, index): Place => {
      const isLast = index === aside.length - 1
      return {
        node: child,
        before: `${rail}${isLast ? '└─' : '├─'}`,
        below: rail + (isLast ? '  ' : '│ '),
        at: 'begin',
      }
    })
    if (onward !== undefined) next.push({ node: onward, before: below, below, at: 'middle' })
    stack.push(...next.reverse())
  }
  return lines
}

function railOf(at: Place['at'], onward: TreeNode | undefined, before: string): string {
  if (at === 'middle') return onward === undefined ? '└─' : '├─'
  if (onward === undefined) return '──'
  return before === '' ? '┌─' : '┬─'
}

interface Branches {
  readonly aside: readonly TreeNode[]
  /** what continues the line of the same environment */
  readonly onward?: TreeNode
}

/** The first snapshot that the environment took next, or the environment itself, if it took none. */
function branchesOf(node: TreeNode): Branches {
  if (node.kind === 'environment') return { aside: [] }
  const { children, environmentId } = node
  const onward =
    children.find((each) => each.kind === 'snapshot' && each.environmentId === environmentId) ??
    children.find((each) => each.id === environmentId)
  const aside = children.filter((child) => child !== onward)
  return onward === undefined ? { aside } : { aside, onward }
}

function renderLine({ lead, node }: Line, layout: Layout, style: Style): string {
  const { nowMs, columns, widest } = layout
  const name = nameOf(node)
  const pad = ' '.repeat(widest - width(lead) - 2 - width(name))
  const isSnapshot = node.kind === 'snapshot'
  const id = (node.name === null ? '' : node.id).padEnd(node.id.length)
  const ids = layout.ids === 'shown' ? `${gap}${id}` : ''
  const parts: Part[] = [
    [lead, style.faint],
    [isSnapshot ? '● ' : '▸ ', isSnapshot ? style.doubtful : style.good],
    [name, node.name === null ? (text) => text : style.strong],
    [`${pad}${ids}${gap}${ageOf(node, nowMs)}${gap}`, style.faint],
    ...(isSnapshot ? snapshotParts(node, style) : [statusPart(node.status, style)]),
  ]
  return paintCut(parts, columns)
}

function ageOf({ createdAt }: TreeNode, nowMs: number): string {
  return formatAge(createdAt, nowMs).padEnd(3)
}

type Part = [text: string, paint: (text: string) => string]

function snapshotParts(node: SnapshotNode, style: Style): Part[] {
  const what = node.captured.includes('processes') ? '' : `${gap}files only`
  const message = node.message === '' ? '' : `${gap}${printable(node.message)}`
  if (node.status !== 'ready') return [[`${node.status}${message}`, style.bad]]
  return [
    [factOf(node), (text) => text],
    [what + reasonOf(node) + message, style.faint],
  ]
}

/** What must stay readable on a narrow terminal. */
function factOf(node: TreeNode): string {
  if (node.kind === 'environment' || node.status !== 'ready') return node.status
  return node.ownBytes === null ? 'not counted yet' : formatBytes(node.ownBytes)
}

const reasons: Record<SnapshotNode['by'], string> = {
  user: '',
  fork: `${gap}taken to fork`,
  promote: `${gap}taken to promote`,
  pause: `${gap}taken to release memory`,
}

/** Why there is a snapshot that nobody asked for. */
function reasonOf({ by }: SnapshotNode): string {
  return reasons[by]
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
