import type { Readable } from 'node:stream'
import { type Extract, extract } from 'tar-stream'
import { ForkpointError, ResourceError } from '../../../model/errors.ts'
import type { CopyProgress, CopyReport } from '../../../model/files/copy-report.ts'
import { type ArchiveEntry, parseEntry } from './entries.ts'
import { malformed } from './malformed.ts'
import { isReport, readReport } from './report.ts'
import type { Run } from './sparse.ts'

/** Each costs an inode on the caller's machine. */
const mostEntries = 5_000_000

export interface ReadOptions {
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined
}

/**
 * Passes each entry of an archive (native/cell/archive/archive.c) to `visit`, which must read the whole
 * content of a file. Throws if the archive is incomplete, or Forkpoint would not make it.
 */
export async function readArchive(
  source: Readable,
  visit: (entry: ArchiveEntry) => Promise<void>,
  options: ReadOptions = {},
): Promise<CopyReport> {
  const tar = extract(bytewise)
  const failure = new FirstFailure()
  const reading = new Reading(visit, failure, options).all(tar)
  const feeding = feed(source, tar).catch((error) => {
    failure.add(incomplete(error))
    tar.destroy(error)
  })
  try {
    const report = await reading
    await feeding
    if (failure.first === null) return report
  } catch (error) {
    failure.add(incomplete(error))
  } finally {
    source.destroy()
  }
  throw failure.first
}

/** Names are bytes, so each becomes one character. The package's types lack this option. */
const bytewise = { filenameEncoding: 'latin1', highWaterMark: 65_536 }

async function feed(source: Readable, tar: Extract): Promise<void> {
  for await (const chunk of source) {
    if (tar.destroying) return
    if (!tar.write(chunk)) await flowing(tar)
  }
  tar.end(undefined)
}

/** Resolves when it can take more, or is closed. */
async function flowing(tar: Extract): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  tar.once('drain', resolve)
  tar.once('close', resolve)
  await promise
  tar.off('drain', resolve)
  tar.off('close', resolve)
}

/** One failure causes others, so the first one is the reason. */
class FirstFailure {
  first: unknown = null

  add(error: unknown): void {
    this.first ??= error
  }
}

/** Whether a system call of the writer failed; every other failure is the archive's fault. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

function incomplete(error: unknown): unknown {
  if (error instanceof ForkpointError) return error
  return malformed((error as Error).message, error)
}

class Reading {
  readonly #visit: (entry: ArchiveEntry) => Promise<void>
  readonly #failure: FirstFailure
  readonly #options: ReadOptions
  #entries = 0
  #done = 0
  #bytes = 0
  #moved = 0

  constructor(
    visit: (entry: ArchiveEntry) => Promise<void>,
    failure: FirstFailure,
    options: ReadOptions,
  ) {
    this.#visit = visit
    this.#failure = failure
    this.#options = options
  }

  async all(tar: Extract): Promise<CopyReport> {
    let report: CopyReport | null = null
    for await (const entry of tar) {
      if (report !== null) throw malformed('something follows its report')
      if (isReport(entry.header)) report = await readReport(entry)
      else await this.#take(parseEntry(entry))
    }
    if (report === null) throw malformed('it ends early')
    if (report.entries === this.#entries && report.bytes === this.#bytes) return report
    const found = amount({ entries: this.#entries, bytes: this.#bytes })
    throw malformed(`it has ${found}, but its report says ${amount(report)}`)
  }

  async #take(entry: ArchiveEntry): Promise<void> {
    this.#entries += 1
    if (this.#entries > mostEntries) throw tooMany()
    if (entry.type === 'file') this.#bytes += entry.sizeBytes
    try {
      await this.#visit(
        entry.type === 'file' ? { ...entry, content: this.#counted(entry.content) } : entry,
      )
    } catch (error) {
      this.#failure.add(isSystemError(error) ? error : incomplete(error))
      throw error
    }
    this.#done += 1
    this.#reportProgress()
  }

  async *#counted(runs: AsyncIterable<Run>): AsyncGenerator<Run> {
    for await (const run of runs) {
      yield run
      this.#moved += run.bytes.length
      this.#reportProgress()
    }
  }

  #reportProgress(): void {
    this.#options.onProgress?.({ entries: this.#done, bytes: this.#moved })
  }
}

function amount({ entries, bytes }: Omit<CopyReport, 'leftOut'>): string {
  return `${entries} entries and ${bytes} bytes`
}

function tooMany(): ResourceError {
  return new ResourceError(`there are more than ${mostEntries} files`, {
    remedy: 'copy only some of them, or pack them inside and copy that archive',
  })
}
