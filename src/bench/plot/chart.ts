import { linearScale, logScale, type Scale } from './scale.ts'

type Point = readonly [x: number, y: number]

export interface Axis {
  /** with its unit */
  readonly label: string
  readonly kind: 'linear' | 'log'
  /** values to write at it, in place of round ones */
  readonly ticks?: readonly number[]
}

interface Line {
  readonly name: string
  readonly points: readonly Point[]
  /** dots alone for many points that scatter */
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
/** Told apart by people who see fewer colours, and legible on white and on black. */
const colours = ['#3b82c4', '#d9822b', '#4a9d5b', '#a066c9', '#c2504a']
const lineHeight = 16

const style = `
text { font: 12px system-ui, sans-serif; fill: #57606a }
.title { font-size: 15px; font-weight: 600 }
.grid { stroke: #8b949e; stroke-opacity: 0.25 }
.axis { stroke: #8b949e }
.line { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #a8b1bb } }`

/** A drawing with no background of its own, for light and dark pages. */
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
  const { width, height } = size
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(chart.title)}">
<style>${style}
</style>
${parts.join('\n')}
</svg>
`
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

/** Each name at the end of its line, moved apart where lines end close to each other. */
function drawNames(lines: readonly Line[], y: Scale): string[] {
  const wanted = lines.map((line, i) => ({
    ...{ name: line.name, colour: colourOf(i) },
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

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${x}" y="${y}" ${attributes}>${escaped(content)}</text>`
}

function tickText(value: number): string {
  return value >= 10_000 ? `${value / 1000}k` : String(value)
}

function colourOf(index: number): string {
  return colours[index % colours.length] ?? 'currentColor'
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
