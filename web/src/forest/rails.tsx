import { memo } from 'react'
import { inkOf } from '../ui/ink.ts'
import { ownerOf } from './forest.ts'
import { laneX, rowY, type Zoom } from './geometry.ts'
import type { Row } from './layout.ts'

interface RailsProps {
  readonly rows: readonly Row[]
  readonly zoom: Zoom
  /** the rows that are rendered */
  readonly from: number
  readonly to: number
  readonly width: number
}

/** The lines that show what grew from what, as far as they cross the rows that are rendered. */
export const Rails = memo(function Rails({ rows, zoom, from, to, width }: RailsProps) {
  const top = from * zoom.rowHeight
  return (
    <svg
      className="rails"
      width={width}
      height={(to - from) * zoom.rowHeight}
      style={{ transform: `translateY(${top}px)` }}
      viewBox={`0 ${top} ${width} ${(to - from) * zoom.rowHeight}`}
      aria-hidden="true"
    >
      {linesAcross(rows, from, to).map((index) => {
        const row = rows[index]
        const above = row?.above ?? null
        const parent = above === null ? undefined : rows[above]
        if (row === undefined || parent === undefined || above === null) return null
        return (
          <path
            key={row.node.id}
            d={line(zoom, { lane: parent.lane, row: above }, { lane: row.lane, row: index })}
            stroke={inkOf(ownerOf(row.node))}
            className={row.isContext ? 'rail rail-context' : 'rail'}
          />
        )
      })}
    </svg>
  )
})

/** The rows whose line to their parent has a part between two rows. */
function linesAcross(rows: readonly Row[], from: number, to: number): number[] {
  const found: number[] = []
  for (let index = from; index < rows.length; index += 1) {
    const above = rows[index]?.above
    if (above !== null && above !== undefined && above <= to) found.push(index)
  }
  return found
}

interface Place {
  readonly lane: number
  readonly row: number
}

/** Straight down its own lane; a fork leaves its parent's lane in a bend, at its own row. */
function line(zoom: Zoom, parent: Place, child: Place): string {
  const [x, y] = [laneX(zoom, parent.lane), rowY(zoom, parent.row)]
  const [toX, toY] = [laneX(zoom, child.lane), rowY(zoom, child.row)]
  if (parent.lane === child.lane) return `M${x} ${y}V${toY}`
  const bend = Math.min(zoom.rowHeight / 2, zoom.laneWidth)
  return `M${x} ${y}V${toY - bend}Q${x} ${toY} ${x + bend} ${toY}H${toX}`
}
