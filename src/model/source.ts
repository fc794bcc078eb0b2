import { InvalidInputError } from './errors.ts'
import { isSnapshotId, type SnapshotId } from './ids.ts'
import { parseName } from './names.ts'
import { quote } from './quote.ts'

type PlaceSource =
  /** the running machine's own root filesystem */
  | { readonly kind: 'host' }
  /** a workspace directory over the host's root */
  | { readonly kind: 'dir'; readonly path: string }
  /** a directory that is a whole root filesystem */
  | { readonly kind: 'rootfs'; readonly path: string }
  | { readonly kind: 'image'; readonly ref: string }
  | { readonly kind: 'dockerfile'; readonly dir: string }

/** What an environment was made from: paths are absolute, the snapshot exists. */
export type Source = PlaceSource | { readonly kind: 'snapshot'; readonly id: SnapshotId }

/** What a user asked for: paths may be relative, `id` may be a name or a shortened id. */
export type SourceRequest = PlaceSource | { readonly kind: 'snapshot'; readonly id: string }

export const sourceForms =
  'host, dir:PATH, rootfs:PATH, image:REF, dockerfile:DIR or snapshot:ID' as const

// [host[:port]/]name[/name...][:tag][@digest]
const imageShape = new RegExp(
  [
    String.raw`^(?:[a-z0-9][a-z0-9.-]*(?::\d{1,5})?/)?`,
    '[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*',
    String.raw`(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`,
  ].join(''),
  'i',
)
const longestImage = 512

/** Reads `host | dir:PATH | rootfs:PATH | image:REF | dockerfile:DIR | snapshot:ID`. */
export function parseSource(text: string): SourceRequest {
  if (text === 'host') return { kind: 'host' }
  const colon = text.indexOf(':')
  const kind = colon === -1 ? text : text.slice(0, colon)
  const rest = colon === -1 ? '' : text.slice(colon + 1)
  switch (kind) {
    case 'dir':
    case 'rootfs':
      return { kind, path: checkPath(text, rest) }
    case 'dockerfile':
      return { kind, dir: checkPath(text, rest) }
    case 'image':
      return { kind, ref: checkImage(text, rest) }
    case 'snapshot':
      return { kind, id: checkSnapshot(text, rest) }
    default:
      throw new InvalidInputError(`not a source: ${quote(text)}`, {
        remedy: `a source is ${sourceForms}`,
      })
  }
}

const fieldOfKind = new Map<unknown, string>([
  ['dir', 'path'],
  ['rootfs', 'path'],
  ['image', 'ref'],
  ['dockerfile', 'dir'],
  ['snapshot', 'id'],
])

/** A request in either form; undefined if it has neither. */
export function toSourceRequest(given: unknown): SourceRequest | undefined {
  if (typeof given === 'string') return parseSource(given)
  if (typeof given !== 'object' || given === null) return undefined
  const { kind, ...fields } = given as Readonly<Record<string, unknown>>
  if (kind === 'host') return { kind }
  const field = fields[fieldOfKind.get(kind) ?? '']
  return typeof field === 'string' ? parseSource(`${kind}:${field}`) : undefined
}

/** The text that `parseSource` reads back. */
export function formatSource(source: SourceRequest): string {
  switch (source.kind) {
    case 'host':
      return 'host'
    case 'dir':
    case 'rootfs':
      return `${source.kind}:${source.path}`
    case 'dockerfile':
      return `dockerfile:${source.dir}`
    case 'image':
      return `image:${source.ref}`
    case 'snapshot':
      return `snapshot:${source.id}`
  }
}

function checkPath(source: string, path: string): string {
  if (path === '') throw bad(source, 'the path is missing', `a source is ${sourceForms}`)
  // NUL ends a path in the kernel, and control characters break mount tables and logs.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(path)) {
    throw bad(source, 'the path has control characters', 'rename the directory')
  }
  if (Buffer.byteLength(path) > 4095) {
    throw bad(source, 'the path is longer than 4095 bytes', 'use a shorter path')
  }
  return path
}

function checkImage(source: string, ref: string): string {
  if (ref.length <= longestImage && imageShape.test(ref)) return ref
  throw bad(source, 'not an image reference', 'write it as image:debian:12 or image:host/name:tag')
}

function checkSnapshot(source: string, ref: string): string {
  if (isSnapshotId(ref)) return ref
  if (ref === '') throw bad(source, 'the snapshot is missing', 'write it as snapshot:ID')
  return parseName(ref)
}

function bad(source: string, why: string, remedy: string): InvalidInputError {
  return new InvalidInputError(`not a source: ${quote(source)}: ${why}`, { remedy })
}
