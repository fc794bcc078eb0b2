import { colourOf, drawing, text } from './drawing.ts'
import { linearScale, logScale, type Scale } from './scale.ts'

type Point = readonly [x: number, y: number]

export interface Axis {
  /** with its unit */
  readonly label: string
  readonly kind: 'linear' | 'log'
  /** values that label it, instead of round ones */
  readonly ticks?: readonly number[]
}

interface Line {
  readonly name: string
  readonly points: readonly Point[]
  /** only dots, for many points that scatter */
  readonly shape?: 'dots'
}

export interface Chart {
  readonly title: string
  readonly x: Axis
  readonly y: Axis
  readonly lines: readonly Line[]
}

const size = { width: 720, height: 400 }
const area = { left: 76, right: 530, top: 52, bottom: 340 }
const lineHeight = 16

/** A drawing without a background, for light and dark pages. */
export function drawChart(chart: Chart): string {
  const points = chart.lines.flatMap((line) => line.points)
  const xs = points.map(([x]) => x)
  const ys = points.map(([, y]) => y)
  const x = scaleOf(chart.x, xs, [area.left, area.right])
  const y = scaleOf(chart.y, ys, [area.bottom, area.top])
  const parts = [
    text(area.left, 24, chart.title, 'class="title"'),
    ...y.ticks.map((tick) => horizontal(y.at(tick), tick)),
    ...x.ticks.map((tick) => vertical(x.at(tick), tick)),
    `<line class="axis" x1="${area.left}" y1="${area.bottom}" x2="${area.right}" y2="${area.bottom}"/>`,
    text((area.left + area.right) / 2, area.bottom + 44, chart.x.label, 'text-anchor="middle"'),
    text(
      0,
      0,
      chart.y.label,
      `text-anchor="middle" transform="translate(20 ${(area.top + area.bottom) / 2}) rotate(-90)"`,
    ),
    ...chart.lines.flatMap((line, i) => drawLine(line, x, y, colourOf(i))),
    ...drawNames(chart.lines, y),
  ]
  return drawing(chart.title, size, parts)
}

function scaleOf(axis: Axis, values: readonly number[], range: readonly [number, number]): Scale {
  return axis.kind === 'log' ? logScale(values, range, axis.ticks) : linearScale(values, range)
}

function drawLine({ points, shape }: Line, x: Scale, y: Scale, colour: string): string[] {
  const places = points.map(([px, py]) => [round(x.at(px)), round(y.at(py))] as const)
  const radius = shape === 'dots' ? 1.6 : 3
  const dots = places.map(
    ([px, py]) => `<circle cx="${px}" cy="${py}" r="${radius}" fill="${colour}"/>`,
  )
  if (shape === 'dots') return dots
  const path = places.map((place) => place.join(',')).join(' ')
  return [`<polyline class="line" stroke="${colour}" points="${path}"/>`, ...dots]
}

/** Each name at the end of its line, moved apart if lines end close to each other. */
function drawNames(lines: readonly Line[], y: Scale): string[] {
  const wanted = lines.map((line, i) => ({
    name: line.name,
    colour: colourOf(i),
    y: y.at(line.points.at(-1)?.[1] ?? 0),
  }))
  const placed: typeof wanted = []
  for (const label of wanted.toSorted((a, b) => a.y - b.y)) {
    const above = placed.at(-1)
    placed.push({ ...label, y: Math.max(label.y, above ? above.y + lineHeight : 0) })
  }
  return placed.map(({ name, colour, y: at }) =>
    text(area.right + 12, round(at) + 4, name, `style="fill: ${colour}"`),
  )
}

function horizontal(y: number, tick: number): string {
  const at = round(y)
  return `<line class="grid" x1="${area.left}" y1="${at}" x2="${area.right}" y2="${at}"/>
${text(area.left - 8, at + 4, tickText(tick), 'text-anchor="end"')}`
}

function vertical(x: number, tick: number): string {
  return text(round(x), area.bottom + 20, tickText(tick), 'text-anchor="middle"')
}

function tickText(value: number): string {
  return value >= 10_000 ? `${value / 1000}k` : String(value)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
