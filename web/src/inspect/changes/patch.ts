/** One line of a file that changed. */
export interface PatchLine {
  readonly kind: 'same' | 'gone' | 'new'
  readonly text: string
  /** its number before and after; null where it is not */
  readonly before: number | null
  readonly after: number | null
}

export interface Hunk {
  /** what git puts after the numbers, such as the function */
  readonly place: string
  readonly lines: readonly PatchLine[]
}

export type Patch =
  | { readonly kind: 'text'; readonly hunks: readonly Hunk[] }
  | { readonly kind: 'binary' }

const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/

/** Reads what `git diff` writes about one file. */
export function parsePatch(text: string): Patch {
  if (/^(Binary files |GIT binary patch)/m.test(text)) return { kind: 'binary' }
  const hunks: { place: string; lines: PatchLine[] }[] = []
  let [before, after] = [0, 0]
  for (const line of text.split('\n')) {
    const [, from, to, place = ''] = header.exec(line) ?? []
    if (from !== undefined && to !== undefined) {
      ;[before, after] = [Number(from), Number(to)]
      hunks.push({ place, lines: [] })
      continue
    }
    const lines = hunks.at(-1)?.lines
    const rest = line.slice(1)
    if (lines === undefined) continue
    if (line.startsWith('+')) lines.push({ kind: 'new', text: rest, before: null, after: after++ })
    else if (line.startsWith('-'))
      lines.push({ kind: 'gone', text: rest, before: before++, after: null })
    else if (line.startsWith(' '))
      lines.push({ kind: 'same', text: rest, before: before++, after: after++ })
  }
  return { kind: 'text', hunks }
}

/** Two columns: what is gone beside what is new. */
export interface SideBySide {
  readonly left: PatchLine | null
  readonly right: PatchLine | null
}

export function sideBySide({ lines }: Hunk): SideBySide[] {
  const rows: SideBySide[] = []
  for (let at = 0; at < lines.length; ) {
    const gone = takeWhile(lines, at, 'gone')
    const fresh = takeWhile(lines, at + gone.length, 'new')
    if (gone.length + fresh.length === 0) {
      const line = lines[at] ?? null
      rows.push({ left: line, right: line })
      at += 1
      continue
    }
    for (let index = 0; index < Math.max(gone.length, fresh.length); index += 1) {
      rows.push({ left: gone[index] ?? null, right: fresh[index] ?? null })
    }
    at += gone.length + fresh.length
  }
  return rows
}

function takeWhile(lines: readonly PatchLine[], from: number, kind: PatchLine['kind']) {
  const end = lines.findIndex((line, index) => index >= from && line.kind !== kind)
  return lines.slice(from, end === -1 ? lines.length : Math.max(from, end))
}
