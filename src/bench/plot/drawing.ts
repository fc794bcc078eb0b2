/** Distinct for people with colour blindness, and legible on white and on black. */
const colours = ['#3b82c4', '#d9822b', '#4a9d5b', '#a066c9', '#c2504a', '#7a7f87']

const style = `
text { font: 12px system-ui, sans-serif; fill: #57606a }
.title { font-size: 15px; font-weight: 600 }
.grid { stroke: #8b949e; stroke-opacity: 0.25 }
.axis { stroke: #8b949e }
.line { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #a8b1bb } }`

/** A drawing without a background, for light and dark pages. */
export function drawing(
  title: string,
  { width, height }: { readonly width: number; readonly height: number },
  parts: readonly string[],
): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>${style}
</style>
${parts.join('\n')}
</svg>
`
}

export function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${x}" y="${y}" ${attributes}>${escaped(content)}</text>`
}

export function colourOf(index: number): string {
  return colours[index % colours.length] ?? 'currentColor'
}

export function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
