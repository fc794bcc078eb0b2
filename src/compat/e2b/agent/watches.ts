import { randomBytes } from 'node:crypto'
import { posix } from 'node:path'
import type { FileWatch, WatchEvent, WatchKind } from '../../../agent/files/file-watch.ts'
import type { Environment } from '../../../api/handles/environment.ts'
import { NotFoundError, ResourceError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { entriesOf } from './entries.ts'

export interface WatchOptions {
  readonly path: string
  readonly recursive: boolean
  readonly includeEntry: boolean
}

function ended(path: string): NotFoundError {
  return new NotFoundError(`nobody watches ${quote(path)} any more`, {
    remedy: 'make another watcher',
  })
}

const kinds: Readonly<Record<WatchKind, string | null>> = {
  created: 'EVENT_TYPE_CREATE',
  modified: 'EVENT_TYPE_WRITE',
  deleted: 'EVENT_TYPE_REMOVE',
  'moved-from': 'EVENT_TYPE_RENAME',
  'moved-to': 'EVENT_TYPE_CREATE',
  attributes: 'EVENT_TYPE_CHMOD',
  overflow: null,
}

/** Changes below a directory as the clients know them. */
export async function* changes(
  environment: Environment,
  watch: FileWatch,
  { path, includeEntry }: WatchOptions,
): AsyncGenerator<object, void, undefined> {
  for await (const event of watch) {
    const type = kinds[event.kind]
    if (type === null) throw overflow(path)
    const entry = includeEntry ? await entryOf(environment, path, event) : null
    yield { name: event.path, type, ...(entry && { entry }) }
  }
}

/** Null if it is gone again. */
async function entryOf(
  environment: Environment,
  top: string,
  { path }: WatchEvent,
): Promise<object | null> {
  const whole = posix.join(top, path)
  try {
    const info = await environment.files.stat(whole, { symlink: 'itself', xattrs: true })
    return (await entriesOf(environment))(whole, info)
  } catch (error) {
    if (error instanceof NotFoundError) return null
    throw error
  }
}

function overflow(path: string): ResourceError {
  return new ResourceError(`changes of ${quote(path)} came faster than they were read`, {
    remedy: 'look at the files again, and watch fewer of them',
  })
}

/** Of all sandboxes, and of one: nobody may take those of the others. */
const mostWatchers = 1000
const mostOfOne = 50
const mostEvents = 10_000

interface Watcher {
  readonly environment: string
  readonly watch: FileWatch
  events: object[]
  failure: unknown
}

/** For clients that ask for changes now and then. They end with the daemon. */
export class Watchers {
  readonly #all = new Map<string, Watcher>()

  async create(environment: Environment, options: WatchOptions): Promise<string> {
    this.#makeRoom(environment.id)
    const { path, recursive } = options
    const watch = await environment.files.watch(path, { recursive })
    try {
      // Others may have come meanwhile.
      this.#makeRoom(environment.id)
    } catch (error) {
      watch.close()
      throw error
    }
    const id = `w${randomBytes(12).toString('hex')}`
    const watcher: Watcher = { environment: environment.id, watch, events: [], failure: null }
    this.#all.set(id, watcher)
    void this.#gather(environment, watcher, options)
    return id
  }

  /** Those that have ended count only as long as there is room: their sandboxes may be gone. */
  #makeRoom(environment: string): void {
    const all = [...this.#all]
    const own = all.filter(([, watcher]) => watcher.environment === environment)
    if (own.length < mostOfOne && all.length < mostWatchers) return
    const ended = all.filter(([, watcher]) => watcher.failure !== null)
    for (const [id] of ended) this.#all.delete(id)
    const left = own.filter(([, watcher]) => watcher.failure === null).length
    if (left >= mostOfOne) throw tooMany(left)
    if (this.#all.size >= mostWatchers) throw tooMany(mostWatchers)
  }

  /** What happened since somebody last asked. */
  take({ id }: Environment, watcherId: string): readonly object[] {
    const watcher = this.#of(id, watcherId)
    if (watcher.failure !== null) throw watcher.failure
    const { events } = watcher
    watcher.events = []
    return events
  }

  remove({ id }: Environment, watcherId: string): void {
    this.#of(id, watcherId).watch.close()
    this.#all.delete(watcherId)
  }

  async #gather(environment: Environment, watcher: Watcher, options: WatchOptions): Promise<void> {
    try {
      for await (const event of changes(environment, watcher.watch, options)) {
        if (watcher.events.length >= mostEvents) throw overflow(options.path)
        watcher.events.push(event)
      }
      watcher.failure = ended(options.path)
    } catch (error) {
      watcher.failure = error
      watcher.watch.close()
    }
  }

  #of(environment: string, id: string): Watcher {
    const watcher = this.#all.get(id)
    if (watcher?.environment === environment) return watcher
    throw new NotFoundError(`no watcher ${quote(id)}`, { remedy: 'make one with CreateWatcher' })
  }
}

function tooMany(count: number): ResourceError {
  return new ResourceError(`there are ${count} watchers already`, {
    remedy: 'remove those that nobody reads',
  })
}
