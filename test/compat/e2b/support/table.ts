import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Visited } from '../tour/tour.ts'

const page = join(import.meta.dirname, '../../../../docs/e2b.md')

/** What became of the methods of some clients, as a table of the page: methods by client. */
export function tableOf(clients: Readonly<Record<string, readonly Visited[]>>): string {
  const names = Object.keys(clients)
  const methods = new Set(Object.values(clients).flatMap((all) => all.map(({ method }) => method)))
  const cell = (name: string, method: string) =>
    clients[name]?.find((each) => each.method === method)?.outcome ?? 'absent'
  const rows = [...methods].map((method) => {
    const cells = names.map((name) => words[cell(name, method)])
    return `| ${[`\`${method}\``, ...cells].join(' | ')} |`
  })
  return [`| method | ${names.join(' | ')} |`, `|${'---|'.repeat(names.length + 1)}`, ...rows].join(
    '\n',
  )
}

const words = { yes: 'works', no: 'no', absent: '–', FAILED: 'FAILED' } as const

/** The part of the page between two marks. */
export function writtenTable(name: string): string {
  return parts(name)[1]?.trim() ?? ''
}

/** `npm run e2b-table` writes the tables anew. */
export const mustWrite = process.env.FORKPOINT_WRITE_TABLES !== undefined

export function writeTable(name: string, table: string): void {
  const [before = '', , after = ''] = parts(name)
  writeFileSync(page, `${before}${mark(name)}\n\n${table}\n\n${endMark}${after}`)
}

function parts(name: string): string[] {
  const text = readFileSync(page, 'utf8')
  const [before = '', rest] = text.split(mark(name))
  if (rest === undefined) throw new Error(`docs/e2b.md has no ${mark(name)}`)
  const [table = '', ...others] = rest.split(endMark)
  return [before, table, others.join(endMark)]
}

const endMark = '<!-- end of table -->'

function mark(name: string): string {
  return `<!-- table of ${name}: written by npm run e2b-table -->`
}
