import { type MouseEvent, memo } from 'react'
import { Age } from '../ui/age.tsx'
import { formatBytes } from '../ui/format.ts'
import { type EnvironmentNode, nameOf, type SnapshotNode, shortId } from './forest.ts'
import { laneX, type Zoom } from './geometry.ts'
import { Glyph } from './glyph.tsx'
import type { Row } from './layout.ts'
import { type Activity, idleProcesses } from './use-activity.ts'

export interface RowActions {
  onOpen(row: Row): void
  onFold(row: Row): void
  onMark(row: Row): void
}

interface RowViewProps extends RowActions {
  readonly row: Row
  readonly index: number
  readonly zoom: Zoom
  readonly isSelected: boolean
  readonly isActive: boolean
  readonly isMarked: boolean
  /** what is being done to it now, such as `snapshot` */
  readonly doing: string | null
  readonly activity: Activity | null
}

export function rowElementId(id: string): string {
  return `row-${id}`
}

export const RowView = memo(function RowView(props: RowViewProps) {
  const { row, index, zoom, isSelected, isActive, isMarked, doing, activity } = props
  const { node } = row
  const classes = ['row', isActive && 'row-active', row.isContext && 'row-context']
  const open = (event: MouseEvent) => {
    if (event.shiftKey || event.metaKey || event.ctrlKey) props.onMark(row)
    else props.onOpen(row)
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the focus, and handles keys for all rows
    <div
      id={rowElementId(node.id)}
      role="treeitem"
      tabIndex={-1}
      className={classes.filter(Boolean).join(' ')}
      style={{
        top: index * zoom.rowHeight,
        height: zoom.rowHeight,
        paddingLeft: laneX(zoom, row.lane) + zoom.laneWidth,
      }}
      data-kind={node.kind}
      aria-level={row.level}
      aria-setsize={row.siblings}
      aria-posinset={row.place}
      aria-selected={isSelected}
      aria-expanded={row.fold === 'leaf' ? undefined : row.fold === 'open'}
      onClick={open}
    >
      <span className="row-glyph" style={{ left: laneX(zoom, row.lane) - laneX(zoom, 0) }}>
        <Glyph node={node} zoom={zoom} isBusy={doing !== null || isWorking(activity)} />
      </span>
      {isMarked && <span className="row-mark" aria-hidden="true" />}
      <span className="row-name clip">
        <span className="hidden-text">{node.kind} </span>
        {nameOf(node)}
      </span>
      <span className="hidden-text">{spoken(row)}</span>
      <Fold row={row} onFold={props.onFold} />
      {zoom.detail === 'all' && <Facts row={row} doing={doing} activity={activity} />}
    </div>
  )
})

function Fold({ row, onFold }: { row: Row; onFold: (row: Row) => void }) {
  if (row.fold === 'leaf') return null
  const toggle = (event: MouseEvent) => {
    event.stopPropagation()
    onFold(row)
  }
  return (
    // The arrow keys of the tree do the same.
    <span className="row-fold" onClick={toggle} aria-hidden="true">
      {row.fold === 'open' ? '−' : `+${row.hidden}`}
    </span>
  )
}

type FactsProps = Pick<RowViewProps, 'row' | 'doing' | 'activity'>

function Facts({ row: { node }, doing, activity }: FactsProps) {
  return (
    <>
      <span className="row-words clip">
        {node.kind === 'snapshot' ? <SnapshotWords node={node} /> : <Status node={node} />}
        {doing !== null && <span className="row-doing"> {doing}…</span>}
        {activity !== null && <Work activity={activity} />}
      </span>
      <Labels labels={node.labels} />
      <Size node={node} activity={activity} />
      <span className="row-age">
        <Age at={node.createdAt} />
      </span>
    </>
  )
}

/** What it takes by itself: a snapshot on disk, an environment in memory and on disk. */
function Size({ node, activity }: Pick<FactsProps, 'activity'> & { node: Row['node'] }) {
  if (node.kind === 'snapshot') {
    return (
      <span className="row-size number" title="on disk, beside what it shares">
        {node.ownBytes !== null && formatBytes(node.ownBytes)}
      </span>
    )
  }
  if (activity === null) return <span className="row-size" />
  const { ownBytes, sharedBytes } = activity
  const title = `memory of its own and changed files; it shares ${formatBytes(sharedBytes)} of memory with snapshots`
  return (
    <span className="row-size number" title={title}>
      {formatBytes(ownBytes)}
    </span>
  )
}

/** Enough CPU to say that somebody works there. */
const busyCpus = 0.05

function isWorking(activity: Activity | null): boolean {
  return activity !== null && activity.cpus >= busyCpus
}

/** What goes on inside: screens, processes beside the shell, and the CPU that they take. */
function Work({ activity }: { activity: Activity }) {
  const { processes, terminals, cpus } = activity
  const others = processes - idleProcesses
  return (
    <>
      {terminals !== null &&
        terminals > 0 &&
        ` · ${terminals} ${terminals === 1 ? 'terminal' : 'terminals'}`}
      {others > 0 && ` · ${processes} processes`}
      {isWorking(activity) && ` · ${cpus.toFixed(1)} CPU`}
    </>
  )
}

function SnapshotWords({ node }: { node: SnapshotNode }) {
  if (node.status !== 'ready') return <span className="row-doing">{node.status}</span>
  return node.message
}

function Status({ node: { status } }: { node: EnvironmentNode }) {
  return <span className={`status status-${status}`}>{status}</span>
}

const shownLabels = 2

function Labels({ labels }: { labels: Readonly<Record<string, string>> }) {
  const all = Object.entries(labels)
  if (all.length === 0) return null
  return (
    <span className="row-labels">
      {all.slice(0, shownLabels).map(([key, value]) => (
        <span key={key} className="label clip">
          {value === '' ? key : `${key}=${value}`}
        </span>
      ))}
      {all.length > shownLabels && <span className="label">+{all.length - shownLabels}</span>}
    </span>
  )
}

/** What the row shows by its shape and place, for whoever does not see it. */
function spoken({ node, hidden }: Row): string {
  const words = [
    ...(node.name === null ? [] : [shortId(node.id)]),
    ...(node.kind === 'snapshot' ? [node.status, `holds ${node.captured.join(', ')}`] : []),
    ...(hidden === 0 ? [] : [`${hidden} below are hidden`]),
  ]
  return `, ${words.join(', ')}`
}
