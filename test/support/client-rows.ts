import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'

const root = join(import.meta.dirname, '../..')
const page = join(root, 'docs/clients.md')

/** `npm run client-tables` writes the rows anew. */
const mustWrite = process.env.FORKPOINT_WRITE_TABLES !== undefined

/** What was tried of one version of a client, against a real daemon. */
export interface TriedClient {
  /** the row of the page that this replaces; rows are sorted by it */
  readonly client: string
  readonly version: string
  /** each method, tool or program */
  readonly works: readonly string[]
  /** answered with an error that says what to do instead */
  readonly refused?: readonly string[]
  readonly failed?: readonly string[]
}

/**
 * The page says exactly this of the client. A version that the page does not name may be tried with
 * `optional`: then it claims nothing.
 */
export function expectRow(tried: TriedClient, need: 'named' | 'optional' = 'named'): void {
  expect(tried.failed ?? []).toEqual([])
  const row = rowOf(tried)
  if (mustWrite) writeRow(tried, row)
  const rows = rowsOf(readFileSync(page, 'utf8'))
  const found = rows.find((each) => each.startsWith(beginningOf(tried)))
  if (found === undefined && need === 'optional') return
  expect(found).toBe(row)
}

/** The version of a package that the tests use. */
export function installedVersion(name: string): string {
  const path = join(root, 'node_modules', name, 'package.json')
  return JSON.parse(readFileSync(path, 'utf8')).version
}

function beginningOf({ client, version }: TriedClient): string {
  return `| \`${client}\` | ${version} |`
}

function rowOf(tried: TriedClient): string {
  const list = (names: readonly string[] = []) =>
    names.length === 0 ? '–' : names.map((name) => `\`${name}\``).join(', ')
  const count = tried.works.length
  const cells = [String(count), list(tried.works), list(tried.refused), list(tried.failed)]
  return `${beginningOf(tried)} ${cells.join(' | ')} |`
}

const begin = '<!-- table of clients: written by npm run client-tables -->'
const end = '<!-- end of table -->'

function rowsOf(text: string): string[] {
  return text.split('\n').filter((line) => line.startsWith('| `'))
}

function writeRow(tried: TriedClient, row: string): void {
  const text = readFileSync(page, 'utf8')
  const others = rowsOf(text).filter((each) => !each.startsWith(beginningOf(tried)))
  const heading = [
    '| client | version | works | which | refused | failed |',
    `|${'---|'.repeat(6)}`,
  ]
  const table = [...heading, ...[...others, row].sort()].join('\n')
  const [before = ''] = text.split(begin)
  const [, after = ''] = text.split(end)
  writeFileSync(page, `${before}${begin}\n\n${table}\n\n${end}${after}`)
}
