import type { Client } from 'forkpoint/client'
import { type KeyboardEvent, useEffect, useMemo, useRef } from 'react'
import type { EnvironmentNode, ForestNode, NodeId } from './forest.ts'
import { laneX, type Zoom } from './geometry.ts'
import type { Row } from './layout.ts'
import { Rails } from './rails.tsx'
import { type RowActions, RowView, rowElementId } from './row-view.tsx'
import { moveFor } from './tree-keys.ts'
import { useActivity } from './use-activity.ts'
import { useWindow } from './use-window.ts'
import type { Operations } from './watch-forest.ts'
import './forest.css'

export interface ForestViewProps extends RowActions {
  readonly rows: readonly Row[]
  readonly zoom: Zoom
  readonly selected: NodeId | null
  /** the row that the keyboard is on */
  readonly active: NodeId | null
  readonly marked: ReadonlySet<string>
  readonly operations: Operations
  readonly client: Client
  onActive(id: NodeId): void
  onHeight(height: number): void
}

/** The tree. Only the rows in sight are in the document, so that thousands scroll like a few. */
export function ForestView(props: ForestViewProps) {
  const { rows, zoom, selected, active, onActive, onHeight } = props
  const place = useRef<HTMLDivElement>(null)
  const { from, to, height } = useWindow(place, rows.length, zoom.rowHeight)
  const doing = useMemo(() => doingOf(props.operations), [props.operations])
  const inSight = rows.slice(from, to).map(({ node }) => node)
  const activity = useActivity(props.client, inSight.flatMap(runningId))
  useEffect(() => onHeight(height), [height, onHeight])
  const activeIndex = rows.findIndex(({ node }) => node.id === active)
  useScrollTo(place, activeIndex, zoom)
  const press = (event: KeyboardEvent) => {
    const move = moveFor(event.key, rows, activeIndex)
    if (move === null || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    if (move.kind === 'to') onActive(move.row.node.id)
    else if (move.kind === 'fold') props.onFold(move.row)
    else if (move.kind === 'mark') props.onMark(move.row)
    else props.onOpen(move.row)
  }
  const lanes = useMemo(() => rows.reduce((most, { lane }) => Math.max(most, lane), 0), [rows])
  return (
    <div
      ref={place}
      className="forest"
      role="tree"
      tabIndex={0}
      aria-label="Snapshots and environments"
      aria-activedescendant={active === null ? undefined : rowElementId(active)}
      onKeyDown={press}
      style={{ fontSize: zoom.text }}
    >
      <div
        className="forest-sheet"
        role="presentation"
        style={{ height: rows.length * zoom.rowHeight, minWidth: laneX(zoom, lanes) + 160 }}
      >
        <Rails rows={rows} zoom={zoom} from={from} to={to} width={laneX(zoom, lanes + 1)} />
        {rows.slice(from, to).map((row, offset) => (
          <RowView
            key={row.node.id}
            row={row}
            index={from + offset}
            zoom={zoom}
            isSelected={row.node.id === selected}
            isActive={row.node.id === active}
            isMarked={props.marked.has(row.node.id)}
            doing={doing.get(row.node.id) ?? null}
            activity={row.node.kind === 'environment' ? (activity.get(row.node.id) ?? null) : null}
            onOpen={props.onOpen}
            onFold={props.onFold}
            onMark={props.onMark}
          />
        ))}
      </div>
    </div>
  )
}

function runningId(node: ForestNode): EnvironmentNode['id'][] {
  return node.kind === 'environment' && node.status === 'running' ? [node.id] : []
}

function doingOf(operations: Operations): ReadonlyMap<string, string> {
  return new Map(
    operations.flatMap(({ environment, kind }) =>
      environment === null ? [] : [[environment, kind]],
    ),
  )
}

/** Keeps the active row in sight, and leaves the scroll position alone otherwise. */
function useScrollTo(
  place: { readonly current: HTMLElement | null },
  index: number,
  { rowHeight }: Zoom,
): void {
  useEffect(() => {
    const element = place.current
    if (element === null || index < 0) return
    const [top, bottom] = [index * rowHeight, (index + 1) * rowHeight]
    if (top < element.scrollTop) element.scrollTop = top
    else if (bottom > element.scrollTop + element.clientHeight) {
      element.scrollTop = bottom - element.clientHeight
    }
  }, [place, index, rowHeight])
}
