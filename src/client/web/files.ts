import { filledPath, insidePath, insidePaths } from '../../api/contract/routes.ts'
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

function filesPath(id: string, query: Readonly<Record<string, unknown>>): string {
  return withQuery(
    filledPath(insidePath(insidePaths.files), () => id),
    query,
  )
}
