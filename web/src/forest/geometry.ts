/** Sizes of the tree at each step of its zoom, in pixels. */
export interface Zoom {
  readonly rowHeight: number
  readonly laneWidth: number
  readonly text: number
  /** whether rows have space for messages and sizes */
  readonly detail: 'all' | 'names'
}

export const zooms: readonly Zoom[] = [
  { rowHeight: 11, laneWidth: 10, text: 9, detail: 'names' },
  { rowHeight: 17, laneWidth: 13, text: 11, detail: 'names' },
  { rowHeight: 23, laneWidth: 16, text: 12, detail: 'all' },
  { rowHeight: 29, laneWidth: 20, text: 13, detail: 'all' },
  { rowHeight: 38, laneWidth: 26, text: 14.5, detail: 'all' },
]

export const usualZoom = 3

/** The largest zoom at which this many rows fit; the smallest if none does. */
export function fittingZoom(rows: number, height: number): number {
  const fits = zooms.findLastIndex(({ rowHeight }) => rows * rowHeight <= height)
  return Math.min(usualZoom, Math.max(0, fits))
}

export const margin = 22

/** The middle of a lane. */
export function laneX(zoom: Zoom, lane: number): number {
  return margin + lane * zoom.laneWidth
}

export function rowY(zoom: Zoom, row: number): number {
  return row * zoom.rowHeight + zoom.rowHeight / 2
}
