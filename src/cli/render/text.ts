import { printable } from '../../model/printable.ts'

// What our own styles write, and what divides text: the only control characters that are printed.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ours = /(\u001b\[\d{1,3}m|[\n\t])/

/**
 * What a renderer made, on its way to a terminal. Each renderer makes what it is given printable; here
 * is the last gate, for what came in where nobody thought of it.
 */
export function styledLines(text: string): string {
  const parts = text.split(ours)
  return parts.map((part, index) => (index % 2 === 1 ? part : printable(part))).join('')
}

/** Columns that the text takes, near enough: names and paths are seldom wide. */
export function width(text: string): number {
  return [...text].length
}

/** At most so many columns; what was cut off shows as an ellipsis. */
export function cutTo(text: string, columns: number): string {
  if (width(text) <= columns) return text
  return `${[...text].slice(0, Math.max(0, columns - 1)).join('')}…`
}

export function indent(text: string, prefix = '  '): string {
  return text
    .split('\n')
    .map((line) => prefix + line)
    .join('\n')
}
