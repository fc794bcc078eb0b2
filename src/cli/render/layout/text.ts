import { printable } from '../../../model/text/printable.ts'

// The control characters that may be printed: those of our own styles, and those that divide text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what we search for
const ours = /(\u001b\[\d{1,3}m|[\n\t])/

/**
 * Rendered text on its way to a terminal. Each renderer makes its input printable; this is the last
 * gate, for anything that one of them forgot.
 */
export function styledLines(text: string): string {
  const parts = text.split(ours)
  return parts.map((part, index) => (index % 2 === 1 ? part : printable(part))).join('')
}

/** How many columns the text takes, approximately: names and paths rarely have wide characters. */
export function width(text: string): number {
  return [...text].length
}

/** Cuts the text to this many columns, with an ellipsis for the rest. */
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
