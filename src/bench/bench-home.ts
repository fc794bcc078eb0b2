import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, Forkpoint, type OpenOptions } from '../index.ts'
import { unmountBelow } from './unmount-below.ts'

/** Lives as long as the run, so that the volume is not made anew for every sample. */
const keeper = 'keeper'

/** A home of the benchmark's own, next to the user's data, so that it may remove everything in it. */
export class BenchHome implements AsyncDisposable {
  readonly path: string
  readonly #options: OpenOptions
  readonly #opened: Forkpoint[] = []

  constructor(options: OpenOptions, path?: string) {
    const { home, runtime } = Forkpoint.settings(options).settings
    mkdirSync(home, { recursive: true })
    this.path = path ?? mkdtempSync(join(home, `bench-${process.pid}-`))
    this.#options = { ...options, settings: { ...options.settings, home: this.path, runtime } }
  }

  /** CRIU as the engine runs it. */
  get criu(): string {
    const { criu, runtime } = Forkpoint.settings(this.#options).settings
    return criu ?? join(runtime, 'criu/bin/criu')
  }

  /** Without warm spares: what a call costs that nothing was prepared for. */
  async openCold(): Promise<Forkpoint> {
    const fp = await this.#open({ 'spares.count': 0 })
    await fp.create({ name: keeper })
    return fp
  }

  /** With those that are kept ready by default. */
  async openWarm(): Promise<Forkpoint> {
    return await this.#open({})
  }

  async #open(settings: OpenOptions['settings']): Promise<Forkpoint> {
    const options = this.#options
    const fp = await Forkpoint.open({ ...options, settings: { ...options.settings, ...settings } })
    this.#opened.push(fp)
    return fp
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const fp of this.#opened) {
      await removeBranches(fp)
      for (const env of await fp.list()) await env.remove()
      await fp.close()
    }
    // A snapshot that a failure left unfinished keeps the volume mounted; it goes with it, whole.
    await unmountBelow(this.path)
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** Oldest first. */
export async function branchesOf(fp: Forkpoint): Promise<Environment[]> {
  return (await fp.list()).filter(({ name }) => name !== keeper)
}

/** Every environment and snapshot but the one environment that keeps the volume. */
export async function removeBranches(fp: Forkpoint): Promise<void> {
  await Promise.all((await branchesOf(fp)).map((env) => env.remove()))
  await pruneFlushed(fp)
}

/** A flush in the background would be in the way, and be measured with what follows. */
export async function pruneFlushed(fp: Forkpoint): Promise<void> {
  for (const snapshot of await fp.snapshots()) await snapshot.durable().catch(() => {})
  await fp.prune()
}
