/** Text made safe for a terminal: what came from elsewhere must not move the cursor. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be printed
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd')
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
