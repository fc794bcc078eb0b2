import { Readable } from 'node:stream'
import { insidePaths } from '../../api/contract/routes.ts'
import { fields } from '../../api/inputs/checked.ts'
import * as v from '../../api/inputs/values.ts'
import { lineWriter } from '../routes/lines.ts'
import { sendBytes } from '../routes/send-bytes.ts'
import { packed, unpack } from './archives.ts'
import { type InsideApp, insideRoute } from './inside-route.ts'

const path = { path: v.absolutePath }

/** Files inside, by their absolute paths. */
export function addFiles(to: InsideApp): void {
  const read = { scope: 'exec', method: 'GET' } as const
  insideRoute(
    to,
    {
      ...read,
      path: insidePaths.files,
      operation: 'files.read',
      summary: 'the content of a file',
      input: fields(path, { offsetBytes: v.whole(0), lengthBytes: v.whole(0) }),
      answers: 'bytes',
    },
    async ({ environment, input: { path, ...range }, request, reply, signal }) => {
      const chunks = environment.files.stream(path, { ...range, signal })
      // The first chunk decides whether this is an answer or an error.
      const first = await chunks.next()
      await sendBytes(request, reply, Readable.from(rejoined(first, chunks), { objectMode: false }))
    },
  )
  insideRoute(
    to,
    {
      ...read,
      path: insidePaths.fileList,
      operation: 'files.list',
      summary: 'the entries of a directory',
      input: fields(path, {}),
      answers: 'json',
    },
    async ({ environment, input, signal }) =>
      (await environment.files.list(input.path, { signal })).map(asJson),
  )
  insideRoute(
    to,
    {
      ...read,
      path: 'files/stat',
      operation: 'files.stat',
      summary: 'type, size, owner and times',
      input: fields(path, { symlink: v.oneOf('follow', 'itself') }),
      answers: 'json',
    },
    async ({ environment, input: { path, ...options }, signal }) =>
      asJson(await environment.files.stat(path, { ...options, signal })),
  )
  insideRoute(
    to,
    {
      ...read,
      path: 'files/watch',
      operation: 'files.watch',
      summary: 'changes from now on, one a line',
      input: fields(path, { recursive: v.truth }),
      answers: 'lines',
    },
    async ({ environment, input: { path, ...options }, request, reply }) => {
      const watch = await environment.files.watch(path, options)
      const lines = lineWriter(request, reply)
      reply.raw.once('close', () => watch.close())
      for await (const change of watch) await lines.write(change)
      lines.end()
    },
  )
  insideRoute(
    to,
    {
      ...read,
      path: 'files/archive',
      operation: 'files.pack',
      summary: 'a file or directory as a tar archive',
      input: fields(path, {}),
      answers: 'bytes',
    },
    async ({ environment, input, request, reply }) =>
      await sendBytes(request, reply, await packed(environment, input.path), 'application/x-tar'),
  )
  insideRoute(
    to,
    {
      method: 'POST',
      path: 'files/mkdir',
      operation: 'files.mkdir',
      scope: 'exec',
      summary: 'make a directory',
      input: fields(path, { parents: v.truth, mode: v.whole(0, 0o7777) }),
      answers: 'nothing',
    },
    ({ environment, input: { path, ...options }, signal }) =>
      environment.files.mkdir(path, { ...options, signal }),
  )
  insideRoute(
    to,
    {
      method: 'POST',
      path: 'files/rename',
      operation: 'files.rename',
      scope: 'exec',
      summary: 'rename a file or directory',
      input: fields({ from: v.absolutePath, to: v.absolutePath }, {}),
      answers: 'nothing',
    },
    ({ environment, input: { from, to }, signal }) =>
      environment.files.rename(from, to, { signal }),
  )
  insideRoute(
    to,
    {
      method: 'DELETE',
      path: insidePaths.files,
      operation: 'files.remove',
      scope: 'exec',
      summary: 'remove a file, or a directory with everything in it',
      input: fields(path, { recursive: v.truth, force: v.truth }),
      answers: 'nothing',
    },
    ({ environment, input: { path, ...options }, signal }) =>
      environment.files.remove(path, { ...options, signal }),
  )
}

/** Routes whose requests have bodies of bytes. */
export function addUploads(to: InsideApp): void {
  const write = { scope: 'exec', method: 'PUT', sends: 'bytes', answers: 'nothing' } as const
  insideRoute(
    to,
    {
      ...write,
      path: insidePaths.files,
      operation: 'files.write',
      summary: 'replace a file with the body, all of it or nothing',
      input: fields(path, {
        mode: v.whole(0, 0o7777),
        makeParents: v.truth,
        how: v.oneOf('replace', 'append', 'create'),
      }),
    },
    ({ environment, input: { path, ...options }, request, signal }) =>
      environment.files.write(path, request.body as Readable, { ...options, signal }),
  )
  insideRoute(
    to,
    {
      ...write,
      path: 'files/archive',
      operation: 'files.unpack',
      summary: 'unpack a tar archive below a directory',
      input: fields(path, {}),
    },
    ({ environment, input, request }) => unpack(environment, input.path, request.body as Readable),
  )
}

async function* rejoined(
  first: IteratorResult<Buffer, void>,
  rest: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  if (first.done) return
  yield first.value
  yield* rest
}

/** Nanoseconds do not fit into a number of JSON. */
function asJson<T extends { readonly mtimeNs: bigint }>(info: T): object {
  return { ...info, mtimeNs: String(info.mtimeNs) }
}
