import { colourOf, drawing, escaped, text } from './drawing.ts'
import { logScale } from './scale.ts'

/** One bar of a group; groups are separated by space. */
export interface BarGroup {
  readonly title: string
  readonly bars: readonly {
    readonly name: string
    readonly value: number
    readonly label: string
  }[]
}

const left = 150
const right = 600
const barHeight = 14
const groupGap = 30
const top = 56

/** Horizontal bars on a logarithmic scale: what is measured differs by orders of magnitude. */
export function drawBars(title: string, unit: string, groups: readonly BarGroup[]): string {
  const all = groups.flatMap(({ bars }) => bars)
  const names = [...new Set(all.map(({ name }) => name))]
  const x = logScale(
    all.map(({ value }) => value),
    [left, right],
  )
  const parts: string[] = [text(20, 24, title, 'class="title"')]
  let y = top
  for (const group of groups) {
    parts.push(text(20, y - 6, `${group.title} (${unit})`, 'style="font-weight: 600"'))
    for (const { name, value, label } of group.bars) {
      const end = Math.max(x.at(value), left + 2)
      const colour = colourOf(names.indexOf(name))
      parts.push(text(left - 8, y + 11, name, 'text-anchor="end"'))
      parts.push(
        `<rect x="${left}" y="${y}" width="${round(end - left)}" height="${barHeight - 3}" fill="${colour}"><title>${escaped(`${name}: ${label}`)}</title></rect>`,
      )
      parts.push(text(round(end) + 6, y + 11, label, ''))
      y += barHeight
    }
    y += groupGap
  }
  return drawing(title, { width: 720, height: y }, parts)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
