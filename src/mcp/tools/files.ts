import { isUtf8 } from 'node:buffer'
import * as z from 'zod'
import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import { wholeCharacters } from '../output/clip.ts'
import { tool } from '../tool.ts'
import * as f from './fields.ts'

const content = z.string().max(f.mostFileBytes)

export const readFile = tool({
  name: 'read_file',
  title: 'Read a file',
  description:
    'Reads a file of an environment: text as it is, anything else as base64. Long files come in pieces; give `next` as the offset of the next one.',
  effect: 'reads',
  input: {
    environment: f.environment,
    path: f.path,
    offset: f.offset.describe('in bytes'),
    limitBytes: z
      .int()
      .min(1)
      .max(f.mostFileBytes)
      .default(64 * 1024),
  },
  output: {
    content: z.string(),
    encoding: z.enum(['utf8', 'base64']),
    sizeBytes: z.number().describe('of the whole file'),
    next: z.nullable(z.number()).describe('where the next piece begins; null: this was the last'),
  },
  run: async ({ environment, path, offset, limitBytes }, { workspace, signal }) => {
    const { files } = await workspace.environment(environment)
    const { sizeBytes } = await files.stat(path, { signal })
    const range = { offsetBytes: offset, lengthBytes: limitBytes, maxBytes: limitBytes }
    const bytes = await files.read(path, { ...range, signal })
    const isLast = bytes.length < limitBytes || offset + bytes.length >= sizeBytes
    const whole = isLast ? bytes : wholeCharacters(bytes)
    const isText = isUtf8(whole) && !whole.includes(0)
    const piece = isText ? whole : bytes
    const encoding = isText ? ('utf8' as const) : ('base64' as const)
    const next = isLast ? null : offset + piece.length
    return { content: piece.toString(encoding), encoding, sizeBytes, next }
  },
})

export const writeFile = tool({
  name: 'write_file',
  title: 'Write a file',
  description:
    'Writes a file of an environment, atomically, and makes missing directories. What was there is replaced; take a snapshot first if you may want it back.',
  effect: 'changes',
  input: {
    environment: f.environment,
    path: f.path,
    content,
    encoding: z.enum(['utf8', 'base64']).default('utf8'),
    executable: z.boolean().default(false),
  },
  output: { path: z.string(), sizeBytes: z.number() },
  run: async ({ environment, path, content: given, encoding, executable }, call) => {
    const { files } = await call.workspace.environment(environment)
    const bytes = Buffer.from(given, encoding)
    const mode = executable ? { mode: 0o755 } : {}
    await files.write(path, bytes, { makeParents: true, signal: call.signal, ...mode })
    return { path, sizeBytes: bytes.length }
  },
})

export const editFile = tool({
  name: 'edit_file',
  title: 'Edit a file',
  description:
    'Replaces exact text in a file of an environment. `old` must occur exactly once, with its white space, unless `all` is true.',
  effect: 'changes',
  input: {
    environment: f.environment,
    path: f.path,
    old: content.min(1).describe('the text to replace'),
    new: content.describe('the text to put there'),
    all: z.boolean().default(false).describe('replace every occurrence'),
  },
  output: { path: z.string(), replaced: z.number() },
  run: async ({ environment, path, old, new: next, all }, { workspace, signal }) => {
    const { files } = await workspace.environment(environment)
    const bytes = await files.read(path, { maxBytes: mostEdited, signal })
    if (!isUtf8(bytes)) {
      throw new InvalidInputError(`${quote(path)} is not text`, { remedy: 'use write_file' })
    }
    const parts = bytes.toString('utf8').split(old)
    const replaced = parts.length - 1
    if (replaced === 0) throw unfit(path, 'does not contain the text', 'read the file again')
    if (replaced > 1 && !all) {
      const times = `contains the text ${replaced} times`
      throw unfit(path, times, 'give more of what is around it, or set `all`')
    }
    const { mode, uid, gid } = await files.stat(path, { signal })
    await files.write(path, parts.join(next), { mode, uid, gid, signal })
    return { path, replaced }
  },
})

/** Larger files are edited with a program inside. */
const mostEdited = 16 * 1024 ** 2

function unfit(path: string, what: string, remedy: string): InvalidInputError {
  return new InvalidInputError(`${quote(path)} ${what}`, { remedy })
}
