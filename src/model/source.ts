import { InvalidInputError } from './errors.ts'
import { isSnapshotId, type SnapshotId } from './ids.ts'
import { quote } from './text/quote.ts'
import { parseName } from './values/names.ts'

type PlaceSource =
  /** the running machine's own root file system */
  | { readonly kind: 'host' }
  /** a workspace directory over the host's root */
  | { readonly kind: 'dir'; readonly path: string }
  /** a directory that is a whole root file system */
  | { readonly kind: 'rootfs'; readonly path: string }
  | { readonly kind: 'image'; readonly ref: string }
  | { readonly kind: 'dockerfile'; readonly dir: string }
  /** a directory with an image in the layout of OCI */
  | { readonly kind: 'oci'; readonly path: string }
  /** a file that `docker save`, `podman save` or `skopeo copy` wrote */
  | { readonly kind: 'archive'; readonly path: string }
  /** the files of a container of Docker or Podman, as they are now */
  | { readonly kind: 'container'; readonly name: string }

/** What an environment was made from: paths are absolute, the snapshot exists. */
export type Source =
  | PlaceSource
  /** a container or a process that ran already; only `attach` makes such environments */
  | { readonly kind: 'attached'; readonly target: string }
  | { readonly kind: 'snapshot'; readonly id: SnapshotId }

/** What a user asked for: paths may be relative, `id` may be a name or a shortened id. */
export type SourceRequest = PlaceSource | { readonly kind: 'snapshot'; readonly id: string }

export const sourceForms =
  'host, dir:PATH, rootfs:PATH, image:REF, dockerfile:DIR, oci:DIR, archive:FILE, container:NAME or snapshot:ID' as const

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

// A name or an id, as Docker and Podman accept it.
const containerShape = /^[a-z0-9][\w.-]{0,127}$/i

/** Reads one of `sourceForms`. */
export function parseSource(text: string): SourceRequest {
  if (text === 'host') return { kind: 'host' }
  const colon = text.indexOf(':')
  const kind = colon === -1 ? text : text.slice(0, colon)
  const rest = colon === -1 ? '' : text.slice(colon + 1)
  switch (kind) {
    case 'dir':
    case 'rootfs':
    case 'oci':
    case 'archive':
      return { kind, path: checkPath(text, rest) }
    case 'container':
      return { kind, name: checkContainer(text, rest) }
    case 'dockerfile':
      return { kind, dir: checkPath(text, rest) }
    case 'image':
      return { kind, ref: checkImage(text, rest) }
    case 'snapshot':
      return { kind, id: checkSnapshot(text, rest) }
    case 'attached':
      throw bad(text, 'it runs already', 'adopt it with `forkpoint attach`')
    default:
      throw new InvalidInputError(`not a source: ${quote(text)}`, { remedy: meantBy(text) })
  }
}

/** A path is a directory to work in; a word with a tag or a slash in it is an image. */
function meantBy(text: string): string {
  if (/^(\.{0,2}\/|\.{1,2}$|~\/)/.test(text)) return `write dir:${text} for a directory to work in`
  if (/[:/]/.test(text) && imageShape.test(text)) return `write image:${text} for a container image`
  return `a source is ${sourceForms}`
}

const fieldOfKind = new Map<unknown, string>([
  ['dir', 'path'],
  ['rootfs', 'path'],
  ['image', 'ref'],
  ['dockerfile', 'dir'],
  ['oci', 'path'],
  ['archive', 'path'],
  ['container', 'name'],
  ['snapshot', 'id'],
])

/** The short form of a source as an object: `{ host: true }`, `{ dir: PATH }`, `{ image: REF }`, … */
export type ShortSource =
  | { readonly host: true }
  | {
      readonly [K in Exclude<SourceRequest['kind'], 'host'>]: Readonly<Record<K, string>>
    }[Exclude<SourceRequest['kind'], 'host'>]

/** A source given as text or as an object; undefined if it is neither. */
export function toSourceRequest(given: unknown): SourceRequest | undefined {
  if (typeof given === 'string') return parseSource(given)
  if (typeof given !== 'object' || given === null) return undefined
  const { kind, ...fields } = given as Readonly<Record<string, unknown>>
  if (kind === undefined) return fromShort(fields)
  if (kind === 'host') return { kind }
  const field = fields[fieldOfKind.get(kind) ?? '']
  return typeof field === 'string' ? parseSource(`${kind}:${field}`) : undefined
}

function fromShort(fields: Readonly<Record<string, unknown>>): SourceRequest | undefined {
  const [[kind, value] = [], ...others] = Object.entries(fields)
  if (others.length > 0) return undefined
  if (kind === 'host') return value === true ? { kind } : undefined
  return fieldOfKind.has(kind) && typeof value === 'string'
    ? parseSource(`${kind}:${value}`)
    : undefined
}

/** The text that `parseSource` reads back, unless it was attached. */
export function formatSource(source: SourceRequest | Source): string {
  switch (source.kind) {
    case 'host':
      return 'host'
    case 'dir':
    case 'rootfs':
    case 'oci':
    case 'archive':
      return `${source.kind}:${source.path}`
    case 'container':
      return `container:${source.name}`
    case 'dockerfile':
      return `dockerfile:${source.dir}`
    case 'image':
      return `image:${source.ref}`
    case 'attached':
      return `attached:${source.target}`
    case 'snapshot':
      return `snapshot:${source.id}`
  }
}

function checkPath(source: string, path: string): string {
  if (path === '') throw bad(source, 'the path is missing', `a source is ${sourceForms}`)
  // NUL ends a path in the kernel, and control characters break mount tables and logs.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what we search for
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

function checkContainer(source: string, name: string): string {
  if (containerShape.test(name)) return name
  throw bad(source, 'not the name of a container', 'write it as container:web, or with its id')
}

function checkSnapshot(source: string, ref: string): string {
  if (isSnapshotId(ref)) return ref
  if (ref === '') throw bad(source, 'the snapshot is missing', 'write it as snapshot:ID')
  return parseName(ref)
}

function bad(source: string, why: string, remedy: string): InvalidInputError {
  return new InvalidInputError(`not a source: ${quote(source)}: ${why}`, { remedy })
}
