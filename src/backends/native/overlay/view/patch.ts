import { formatPatch, OMIT_HEADERS, structuredPatch } from 'diff'
import { bytesToText, textToBytes } from '../../../../agent/files/byte-text.ts'
import type { ChangedFile, FileChange } from '../../../../model/files/file-change.ts'
import { readSmallFile } from './contents.ts'
import type { NativeView } from './native-view.ts'
import { patchName } from './patch-name.ts'

const maxFileBytes = 4 * 1024 * 1024
/** After that, the patch replaces the whole file, which is still correct. */
const maxSearchMs = 2000
/** A NUL in the first bytes makes a file binary, as in git. */
const binaryProbe = 8000

/**
 * The change as `git apply` and `patch -p1` read it; empty if there is no text, as for directories.
 * Bytes that are not UTF-8 become lone surrogates, as in names.
 */
export async function unifiedPatch(
  change: FileChange,
  a: NativeView,
  b: NativeView,
): Promise<string> {
  const { path, from = path } = change
  const before = hasText(change.before) ? change.before : null
  const after = hasText(change.after) ? change.after : null
  // git has no change of type, only a deletion and an addition.
  if (before && after && before.type !== after.type) {
    const gone = await fromTo({ path: from, entry: before, view: a }, null)
    return gone + (await fromTo(null, { path, entry: after, view: b }))
  }
  return fromTo(
    before && { path: from, entry: before, view: a },
    after && { path, entry: after, view: b },
  )
}

interface Side {
  readonly path: string
  readonly entry: ChangedFile
  readonly view: NativeView
}

async function fromTo(before: Side | null, after: Side | null): Promise<string> {
  const paths = { old: before?.path ?? after?.path ?? '', new: after?.path ?? before?.path ?? '' }
  const names = { old: patchName('a', paths.old), new: patchName('b', paths.new) }
  if (!before && !after) return ''
  const head = [`diff --git ${names.old} ${names.new}`, ...facts(before, after)]
  const [old, now] = await Promise.all([contentOf(before), contentOf(after)])
  return `${head.join('\n')}\n${difference(names, before && old, after && now)}`
}

function facts(before: Side | null, after: Side | null): string[] {
  if (!before) return [`new file mode ${gitMode(after)}`]
  if (!after) return [`deleted file mode ${gitMode(before)}`]
  const lines: string[] = []
  if (gitMode(before) !== gitMode(after)) {
    lines.push(`old mode ${gitMode(before)}`, `new mode ${gitMode(after)}`)
  }
  if (before.path !== after.path) {
    lines.push(
      `rename from ${patchName('', before.path)}`,
      `rename to ${patchName('', after.path)}`,
    )
  }
  return lines
}

type Content = Buffer | 'too large'

async function contentOf(side: Side | null): Promise<Content> {
  if (!side) return Buffer.alloc(0)
  const { entry, path, view } = side
  if (entry.type === 'symlink') return textToBytes(entry.target ?? '')
  if (entry.sizeBytes > maxFileBytes) return 'too large'
  return (await readSmallFile(view, path, maxFileBytes)) ?? 'too large'
}

function difference(
  names: { old: string; new: string },
  old: Content | null,
  now: Content | null,
): string {
  if (old === 'too large' || now === 'too large') {
    return `Files ${names.old} and ${names.new} differ, too large for a patch\n`
  }
  const [left, right] = [old ?? Buffer.alloc(0), now ?? Buffer.alloc(0)]
  if (left.equals(right)) return ''
  const shown = { old: old ? names.old : '/dev/null', new: now ? names.new : '/dev/null' }
  if (isBinary(left) || isBinary(right)) {
    return `Binary files ${shown.old} and ${shown.new} differ\n`
  }
  return `--- ${shown.old}\n+++ ${shown.new}\n${hunks(bytesToText(left), bytesToText(right))}`
}

function hunks(left: string, right: string): string {
  const options = { context: 3, timeout: maxSearchMs }
  const found = structuredPatch('', '', left, right, undefined, undefined, options)
  return found ? formatPatch(found, OMIT_HEADERS) : replaced(left, right)
}

/** One hunk that removes everything and adds everything. */
function replaced(left: string, right: string): string {
  const [old, now] = [linesOf(left), linesOf(right)]
  const range = (count: number) => `${count === 0 ? 0 : 1},${count}`
  const text = (sign: string, lines: string[]) =>
    lines.map((line) =>
      line.endsWith('\n') ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`,
    )
  const head = `@@ -${range(old.length)} +${range(now.length)} @@\n`
  return [head, ...text('-', old), ...text('+', now)].join('')
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

function isBinary(content: Buffer): boolean {
  return content.subarray(0, binaryProbe).includes(0)
}

function hasText(entry: ChangedFile | null): entry is ChangedFile {
  return entry?.type === 'file' || entry?.type === 'symlink'
}

function gitMode(side: Side | null): string {
  if (!side || side.entry.type === 'symlink') return '120000'
  return `100${(side.entry.mode & 0o777).toString(8).padStart(3, '0')}`
}
