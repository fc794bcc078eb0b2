// The conformance matrix: cases by backend, as a run of the suite found them.

/** What happened to one case on one backend. */
export type Outcome =
  /** it was tried and held */
  | 'kept'
  /** the backend does not declare what it needs, and refused it with the right error */
  | 'refused'
  /** the backend does not declare what it needs, and there is nothing to ask of it */
  | 'lost'
  | 'FAILED'
  | 'not run'

/** What a test of the suite records about itself. */
export interface ConformanceNote {
  readonly backend: string
  readonly case: string
  readonly outcome: Outcome
}

export interface Matrix {
  readonly backends: readonly string[]
  readonly rows: readonly { readonly case: string; readonly cells: readonly Outcome[] }[]
  /** backends that this machine was found not to support, in the words of the probe */
  readonly notRun: readonly { readonly backend: string; readonly why: string }[]
}

/** The backends that users can choose, in the order of the columns. */
export const matrixBackends = [
  'native',
  'docker',
  'docker-processes',
  'podman',
  'podman-criu',
  'criu',
  'gvisor',
]

const begin = '<!-- matrix: written by npm run conformance -->'
const end = '<!-- end of matrix -->'

/** Of the backends whose files ran; null if there was none. */
export function matrixOf(
  notes: readonly ConformanceNote[],
  skipped: readonly { readonly backend: string; readonly why: string }[],
): Matrix | null {
  const ran = notes.filter(({ backend }) => matrixBackends.includes(backend))
  if (ran.length === 0) return null
  const cases = [...new Set(ran.map((note) => note.case))]
  const outcomeOf = (name: string, backend: string): Outcome =>
    ran.find((note) => note.case === name && note.backend === backend)?.outcome ?? 'not run'
  const backends = matrixBackends.filter((name) => ran.some(({ backend }) => backend === name))
  const notRun = new Map(skipped.map(({ backend, why }) => [backend, why]))
  return {
    backends,
    rows: cases.map((name) => ({
      case: name,
      cells: backends.map((backend) => outcomeOf(name, backend)),
    })),
    notRun: [...notRun].map(([backend, why]) => ({ backend, why })),
  }
}

/** For the closing lines of a run. */
export function matrixText({ backends, rows, notRun }: Matrix): string {
  const widths = backends.map((backend) => Math.max(backend.length, 'not run'.length))
  const line = (cells: readonly string[], title: string) =>
    `  ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}  ${title}`
  const counts = backends.map((backend, i) => `${backend} ${countOf(rows, i)}`)
  return [
    `conformance: ${rows.length} cases (${counts.join(', ')} kept)`,
    line(backends, ''),
    ...rows.map((row) => line(row.cells, row.case)),
    ...notRun.map(({ backend, why }) => `NOT RUN: ${backend}: ${why}`),
  ]
    .map((text) => text.trimEnd())
    .join('\n')
}

function countOf(rows: Matrix['rows'], column: number): string {
  return String(rows.filter(({ cells }) => cells[column] === 'kept').length)
}

/** The page with this matrix instead of the old one. */
export function withMatrix(page: string, matrix: Matrix): string {
  const [before, rest] = page.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`no "${begin}" … "${end}"`)
  return `${before}${begin}\n\n${tableOf(matrix)}\n\n${end}${after}`
}

function tableOf({ backends, rows, notRun }: Matrix): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const table = [
    line(['case', ...backends]),
    `|${'---|'.repeat(backends.length + 1)}`,
    ...rows.map((row) => line([row.case, ...row.cells])),
  ]
  const absent = notRun.map(({ backend, why }) => `- **${backend} was not run**: ${why}`)
  return [table.join('\n'), absent.join('\n')].filter(Boolean).join('\n\n')
}

/** The cases that a page lists. */
export function casesOn(page: string): string[] {
  const table = page.split(begin)[1]?.split(end)[0] ?? ''
  const rows = Array.from(table.matchAll(/^\| (.+?) \| /gm), ([, title = '']) => title)
  return rows.filter((title) => title !== 'case')
}
