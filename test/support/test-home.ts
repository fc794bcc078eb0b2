import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { placesOf } from '../../src/backends/native/places.ts'
import { Forkpoint, type OpenOptions } from '../../src/index.ts'
import { forgetHome, knowHome } from './known-homes.ts'
import { openLoopBack } from './loop-back.ts'
import { openThroughDaemon } from './through-daemon.ts'

type Flags = NonNullable<OpenOptions['settings']>

/** Opens a home the way that this run's tests do. */
async function openThrough(settings: Flags): Promise<Forkpoint> {
  switch (process.env.FORKPOINT_TEST_CONTROL) {
    case 'loop-back':
      return await openLoopBack(settings)
    case 'daemon':
      return await openThroughDaemon(settings, 'unix')
    case 'tls':
      return await openThroughDaemon(settings, 'tls')
    default:
      return await Forkpoint.open({ settings })
  }
}

/** A test's own store, below the run's, so that the run finds what the test leaves behind. */
export class TestHome implements AsyncDisposable {
  readonly path: string
  /** what names this home's cgroups, interfaces and rules */
  readonly key: string
  readonly #settings: Flags
  readonly #opened: Forkpoint[] = []

  /** what makes other programs write to the same kind of volume */
  readonly variables: Readonly<Record<string, string>>

  /** `settings` are those of everything that is opened here; other programs get only `volume`. */
  constructor(purpose: string, settings: Flags = {}) {
    this.#settings = settings
    this.variables =
      settings.volume === undefined ? {} : { FORKPOINT_VOLUME: String(settings.volume) }
    const runHome = process.env.FORKPOINT_HOME
    if (runHome === undefined) throw new Error('no FORKPOINT_HOME; run the tests with vitest')
    this.path = mkdtempSync(join(runHome, `${purpose}-`))
    this.key = placesOf(this.path).key
    knowHome(this.path)
  }

  async open(settings: Flags = {}): Promise<Forkpoint> {
    const all = { home: this.path, ...this.#settings, ...settings }
    const fp = await openThrough(all)
    this.#opened.push(fp)
    return fp
  }

  /** Never through the loop-back: for what a process that keeps running does by itself. */
  async openEmbedded(settings: Flags = {}): Promise<Forkpoint> {
    const all = { home: this.path, ...this.#settings, ...settings }
    const fp = await Forkpoint.open({ settings: all })
    this.#opened.push(fp)
    return fp
  }

  /** Removes every environment, whatever state the test left it in, and every snapshot. */
  async removeAll(): Promise<void> {
    await using fp = await Forkpoint.open({ settings: { home: this.path } })
    const all = await fp.list()
    await Promise.all(all.map((env) => env.remove({ force: true })))
    await fp.prune()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.removeAll()
    } finally {
      await Promise.all(this.#opened.map((fp) => fp.close()))
    }
    forgetHome(this.path)
    this.#dropSnapshots()
    // Only if nothing is left: what a failure leaves behind is reported at the end of the run.
    rmSync(this.path, { recursive: true, force: true })
  }

  /** They keep the volumes mounted, and are removed with them. */
  #dropSnapshots(): void {
    const { data, files } = placesOf(this.path)
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    for (const path of [files, data]) {
      if (mounts.includes(` ${path} `)) execFileSync('umount', [path], { stdio: 'pipe' })
    }
  }
}
