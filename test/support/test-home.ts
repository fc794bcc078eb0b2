import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { placesOf } from '../../src/backends/native/places.ts'
import { Forkpoint, type OpenOptions } from '../../src/index.ts'

type Flags = NonNullable<OpenOptions['settings']>

/** A store of a test's own, below the run's: what is left of it is found by either. */
export class TestHome implements AsyncDisposable {
  readonly path: string
  /** what names this home's cgroups, interfaces and rules */
  readonly key: string
  readonly #settings: Flags
  readonly #opened: Forkpoint[] = []

  /** `settings` are those of everything that is opened here. */
  constructor(purpose: string, settings: Flags = {}) {
    this.#settings = settings
    const runHome = process.env.FORKPOINT_HOME
    if (runHome === undefined) throw new Error('no FORKPOINT_HOME; run the tests with vitest')
    this.path = mkdtempSync(join(runHome, `${purpose}-`))
    this.key = placesOf(this.path).key
  }

  async open(settings: Flags = {}): Promise<Forkpoint> {
    const fp = await Forkpoint.open({
      settings: { home: this.path, ...this.#settings, ...settings },
    })
    this.#opened.push(fp)
    return fp
  }

  /** Removes every environment, whatever state the test left it in, and every snapshot. */
  async removeAll(): Promise<void> {
    await using fp = await Forkpoint.open({ settings: { home: this.path } })
    const all = await fp.list()
    await Promise.all(all.map((env) => env.remove()))
    await fp.prune()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.removeAll()
    } finally {
      await Promise.all(this.#opened.map((fp) => fp.close()))
    }
    this.#dropSnapshots()
    // Only if nothing is left: what a failure left behind is reported at the end of the run.
    rmSync(this.path, { recursive: true, force: true })
  }

  /** They keep the volume mounted; they go with it, whole. */
  #dropSnapshots(): void {
    const data = join(this.path, 'data')
    if (readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${data} `)) {
      execFileSync('umount', [data], { stdio: 'pipe' })
    }
  }
}
