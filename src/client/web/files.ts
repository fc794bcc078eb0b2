import * as z from 'zod/mini'
import { filledPath, insidePath, insidePaths } from '../../api/contract/routes.ts'
import { parsedAnswer } from '../link/answer.ts'
import { withQuery } from '../link/sent.ts'
import type { Fetcher } from './fetcher.ts'

export interface ReadFileOptions {
  readonly offsetBytes?: number
  readonly lengthBytes?: number
  readonly signal?: AbortSignal
}

export interface WriteFileOptions {
  /** permissions, such as 0o644 */
  readonly mode?: number
  readonly makeParents?: boolean
  readonly signal?: AbortSignal
}

export async function readFile(
  fetcher: Fetcher,
  id: string,
  path: string,
  { signal, ...range }: ReadFileOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const sent = { method: 'GET', path: filesPath(id, { path, ...range }), signal }
  return await fetcher.send(sent, async (answer) => new Uint8Array(await answer.arrayBuffer()))
}

/** Replaces the whole file, so that it may be sent twice. */
export async function writeFile(
  fetcher: Fetcher,
  id: string,
  path: string,
  data: string | Uint8Array<ArrayBuffer>,
  { signal, ...options }: WriteFileOptions,
): Promise<void> {
  const body = typeof data === 'string' ? new TextEncoder().encode(data) : data
  const headers = { 'content-type': 'application/octet-stream' }
  const sent = { method: 'PUT', path: filesPath(id, { path, ...options }), body, headers, signal }
  await fetcher.send(sent, async () => {})
}

const fileEntry = z.object({
  name: z.string(),
  type: z.enum(['file', 'directory', 'symlink', 'other']),
  /** permission bits */
  mode: z.number(),
  sizeBytes: z.number(),
  /** nanoseconds since 1970, as a number in text */
  mtimeNs: z.string(),
  uid: z.number(),
  gid: z.number(),
  /** where a symlink points to */
  target: z.nullable(z.string()),
})

/** What a directory inside holds under one name. */
export type FileEntry = Readonly<z.infer<typeof fileEntry>>

export async function listFiles(
  fetcher: Fetcher,
  id: string,
  path: string,
  { signal }: { readonly signal?: AbortSignal },
): Promise<readonly FileEntry[]> {
  const sent = { method: 'GET', path: filesPath(id, { path }, insidePaths.fileList), signal }
  const answer: unknown = await fetcher.send(sent, (response) => response.json())
  const from = { where: fetcher.where, name: 'files.list' }
  return parsedAnswer(z.array(fileEntry), answer, from)
}

function filesPath(
  id: string,
  query: Readonly<Record<string, unknown>>,
  below: string = insidePaths.files,
): string {
  return withQuery(
    filledPath(insidePath(below), () => id),
    query,
  )
}
