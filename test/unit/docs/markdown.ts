// Reads the documentation as data: pages, code blocks, headings and links.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../../..')

export interface Page {
  /** relative to the repository */
  readonly path: string
  readonly text: string
}

export interface CodeBlock {
  readonly page: string
  /** of its first line of code */
  readonly line: number
  readonly language: string
  readonly text: string
}

/** The pages that users read. */
export function readPages(): Page[] {
  const pagesIn = (folder: string) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`)
  return ['README.md', ...pagesIn('docs'), ...pagesIn('docs/backends')].map(readPage)
}

export function readPage(path: string): Page {
  return { path, text: readFileSync(join(root, path), 'utf8') }
}

export function codeBlocks({ path, text }: Page): CodeBlock[] {
  const blocks: CodeBlock[] = []
  let open: { language: string; line: number; lines: string[] } | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const fence = /^```(\S*)/.exec(line)
    if (fence === null) {
      open?.lines.push(line)
    } else if (open === undefined) {
      open = { language: fence[1] ?? '', line: index + 2, lines: [] }
    } else {
      const { language, line: first, lines } = open
      blocks.push({ page: path, line: first, language, text: `${lines.join('\n')}\n` })
      open = undefined
    }
  }
  return blocks
}

export function blocksOf(page: Page, language: string): CodeBlock[] {
  return codeBlocks(page).filter((block) => block.language === language)
}

/** The text without code blocks, where headings and links mean nothing. */
export function proseOf({ text }: Page): string {
  return text.replaceAll(/^```.*?^```$/gms, '')
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(page: Page): Set<string> {
  const headings = proseOf(page).matchAll(/^#{1,6} (.+)$/gm)
  return new Set(Array.from(headings, ([, title = '']) => anchorOf(title)))
}

function anchorOf(title: string): string {
  const kept = title.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '')
  return kept.replaceAll(' ', '-')
}

export function linksOf(page: Page): string[] {
  const prose = proseOf(page).replaceAll(/`[^`\n]*`/g, '')
  return Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target)
}

/** The part of a page under this heading, up to the next one of the same or a higher level. */
export function sectionOf(page: Page, title: string): string {
  const lines = page.text.split('\n')
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === title)
  if (start === -1) throw new Error(`${page.path} has no section "${title}"`)
  const depth = /^#+/.exec(lines[start] ?? '')?.[0].length ?? 1
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => (/^(#+) /.exec(line)?.[1]?.length ?? 99) <= depth)
  return rest.slice(0, end === -1 ? rest.length : end).join('\n')
}

/** What is in `code` in a piece of Markdown. */
export function codeWords(markdown: string): string[] {
  return Array.from(markdown.matchAll(/`([^`\n]+)`/g), ([, word = '']) => word)
}
