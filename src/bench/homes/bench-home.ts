import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, Forkpoint, type OpenOptions } from '../../index.ts'
import type { EngineName } from '../results.ts'
import type { Engine } from './engine.ts'
import type { Api } from './other-checkout.ts'
import { unmountBelow } from './unmount-below.ts'

/** An environment that lasts as long as the run, so that the volume is not made again for every sample. */
const volumeHolder = 'volume-holder'

interface HomeOptions {
  /** an existing home; default: a new one */
  readonly path?: string
  /** what opens it; default: this checkout */
  readonly api?: Api
}

/** The benchmark's own home, separate from the user's data, so that it may remove everything in it. */
export class BenchHome implements AsyncDisposable {
  readonly path: string
  readonly #options: OpenOptions
  readonly #api: Api
  readonly #opened: Forkpoint[] = []

  constructor(options: OpenOptions, { path, api = Forkpoint }: HomeOptions = {}) {
    const { home, runtime } = Forkpoint.settings(options).settings
    mkdirSync(home, { recursive: true })
    this.path = path ?? mkdtempSync(join(home, `bench-${process.pid}-`))
    this.#api = api
    this.#options = { ...options, settings: { ...options.settings, home: this.path, runtime } }
  }

  /** CRIU as the engine runs it. */
  get criu(): string {
    const { native, runtime } = Forkpoint.settings(this.#options).settings
    return native.criu ?? join(runtime, 'criu/bin/criu')
  }

  async openEngine(by: EngineName): Promise<Engine> {
    const cold = await this.openCold()
    return { by, home: this.path, cold, warm: await this.openWarm() }
  }

  /** Without warm spares: the cost of a call that nothing was prepared for. */
  async openCold(): Promise<Forkpoint> {
    const fp = await this.#open({ 'spares.count': 0 })
    await fp.create({ name: volumeHolder })
    return fp
  }

  /** With the spares that are kept ready by default. */
  async openWarm(): Promise<Forkpoint> {
    return await this.#open({})
  }

  async #open(settings: OpenOptions['settings']): Promise<Forkpoint> {
    const options = this.#options
    const fp = await this.#api.open({ ...options, settings: { ...options.settings, ...settings } })
    this.#opened.push(fp)
    return fp
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const fp of this.#opened) {
      await removeBranches(fp)
      for (const env of await fp.list()) await env.remove()
      await fp.close()
    }
    // A snapshot that a failure left incomplete keeps the volume mounted. Both are removed here.
    await unmountBelow(this.path)
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** Oldest first. */
export async function branchesOf(fp: Forkpoint): Promise<Environment[]> {
  return (await fp.list()).filter(({ name }) => name !== volumeHolder)
}

/** Removes every snapshot, and every environment except the one that holds the volume. */
export async function removeBranches(fp: Forkpoint): Promise<void> {
  await Promise.all((await branchesOf(fp)).map((env) => env.remove()))
  await pruneFlushed(fp)
}

/** Waits for flushes first: one in the background would disturb the next measurement. */
export async function pruneFlushed(fp: Forkpoint): Promise<void> {
  // Nothing is lost if a flush fails: the snapshot is about to be removed.
  for (const snapshot of await fp.snapshots()) await snapshot.durable().catch(() => {})
  await fp.prune()
}
