import { posix } from 'node:path'
import type { FileInfo } from '../../../agent/files/files.ts'
import type { Environment } from '../../../api/handles/environment.ts'
import { ConflictError, NotFoundError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { parsed } from '../bodies.ts'
import { entriesOf, walked } from './entries.ts'
import * as m from './messages.ts'
import { answerStream } from './rpc.ts'
import type { Call, StreamCall, Unary } from './service.ts'
import { pathInside, userOf } from './users.ts'
import { changes, type Watchers, type WatchOptions } from './watches.ts'

/** The service `filesystem.Filesystem`. */
export function filesystemService(watchers: Watchers): {
  readonly unary: Readonly<Record<string, Unary>>
  readonly streams: Readonly<Record<string, StreamCall>>
} {
  return {
    streams: {
      WatchDir: (call) =>
        answerStream(call.request, call.reply, { keepalive: {} }, async ({ send }) => {
          const options = await watchOptions(call)
          const { path, recursive } = options
          const watch = await call.environment.files.watch(path, { recursive })
          call.reply.raw.once('close', () => watch.close())
          await send({ start: {} })
          for await (const filesystem of changes(call.environment, watch, options)) {
            await send({ filesystem })
          }
        }),
    },
    unary: {
      Stat: async (call) => {
        const { path } = parsed(m.pathRequest, call.message)
        return await entryAt(call.environment, await resolved(call, path))
      },
      MakeDir: async (call) => {
        const { path } = parsed(m.pathRequest, call.message)
        const place = await resolved(call, path)
        if ((await look(call.environment, place)) !== null) throw exists(place)
        await call.environment.files.mkdir(place, { parents: true })
        return await entryAt(call.environment, place)
      },
      Move: async (call) => {
        const { source, destination } = parsed(m.moveRequest, call.message)
        const [from, to] = [await resolved(call, source), await resolved(call, destination)]
        const { files } = call.environment
        await files.mkdir(posix.dirname(to), { parents: true })
        await files.rename(from, to)
        return await entryAt(call.environment, to)
      },
      Remove: async (call) => {
        const { path } = parsed(m.pathRequest, call.message)
        const place = await resolved(call, path)
        await call.environment.files.remove(place, { recursive: true, force: true })
        return {}
      },
      ListDir: async (call) => {
        const { path, depth = 1 } = parsed(m.listRequest, call.message)
        const [top, entryOf] = [await resolved(call, path), await entriesOf(call.environment)]
        const entries: object[] = []
        for await (const found of walked(call.environment, top, Math.max(1, depth), call.signal)) {
          entries.push(entryOf(found.path, found.info))
        }
        return { entries }
      },
      CreateWatcher: async (call) => ({
        watcherId: await watchers.create(call.environment, await watchOptions(call)),
      }),
      GetWatcherEvents: async ({ environment, message }) => {
        const { watcherId } = parsed(m.watcherRequest, message)
        return { events: watchers.take(environment, watcherId) }
      },
      RemoveWatcher: async ({ environment, message }) => {
        watchers.remove(environment, parsed(m.watcherRequest, message).watcherId)
        return {}
      },
    },
  }
}

function resolved({ environment, request }: Call, path: string): Promise<string> {
  return pathInside(environment, path, userOf(request))
}

async function watchOptions(call: Call): Promise<WatchOptions> {
  const {
    recursive = false,
    includeEntry = false,
    ...wanted
  } = parsed(m.watchRequest, call.message)
  const path = await resolved(call, wanted.path)
  const { type } = await call.environment.files.stat(path)
  if (type !== 'directory') {
    throw new ConflictError(`${quote(path)} is not a directory`, { remedy: 'watch a directory' })
  }
  return { path, recursive, includeEntry }
}

async function entryAt(environment: Environment, path: string): Promise<object> {
  const info = await environment.files.stat(path, { symlink: 'itself', xattrs: true })
  return { entry: (await entriesOf(environment))(path, info) }
}

async function look(environment: Environment, path: string): Promise<FileInfo | null> {
  try {
    return await environment.files.stat(path)
  } catch (error) {
    if (error instanceof NotFoundError) return null
    throw error
  }
}

function exists(path: string): ConflictError {
  return new ConflictError(`${quote(path)} exists already`, {
    remedy: 'choose another path',
    detail: { errno: 'EEXIST' },
  })
}
