import { hostFacts } from '../config/host-facts.ts'
import type { Flags } from '../config/layers.ts'
import { type LoadedSettings, loadSettings } from '../config/load-settings.ts'
import type { EnvironmentStatus } from '../model/environment.ts'
import { type CreateOptions, create } from './create.ts'
import { type Doctor, doctor } from './doctor.ts'
import { type Engine, openEngine } from './engine.ts'
import { Environment } from './environment.ts'
import { markDead } from './liveness.ts'

export interface OpenOptions {
  /** settings that come before variables and files, as `forkpoint config` names them */
  readonly settings?: Flags
  /** a configuration file to read before the user's and the system's */
  readonly configPath?: string
}

export interface ListOptions {
  readonly status?: EnvironmentStatus | readonly EnvironmentStatus[]
  readonly labels?: Readonly<Record<string, string>>
}

/**
 * Live environments on this machine.
 *
 * @example
 * await using fp = await Forkpoint.open()
 * const env = await fp.create({ from: 'host', name: 'try' })
 * const { stdout } = await env.exec('uname -s')
 * await env.remove()
 */
export class Forkpoint implements AsyncDisposable {
  readonly #engine: Engine

  private constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Opens this machine's store, cleaning up after processes that were killed. */
  static async open(options: OpenOptions = {}): Promise<Forkpoint> {
    const { settings } = Forkpoint.settings(options)
    return new Forkpoint(await openEngine(settings))
  }

  /** The effective settings, and where each comes from. */
  static settings(options: OpenOptions = {}): LoadedSettings {
    return loadSettings({
      flags: options.settings ?? {},
      env: process.env,
      facts: hostFacts(),
      configPath: options.configPath,
    })
  }

  /** Probes what Forkpoint needs of this machine, for real; needs no open store. */
  static doctor(options: OpenOptions = {}): Promise<Doctor> {
    return doctor(Forkpoint.settings(options).settings)
  }

  /** Makes an environment; resolves when commands can run in it. */
  async create(options: CreateOptions = {}): Promise<Environment> {
    return new Environment(this.#engine, await create(this.#engine, options))
  }

  /** By id, unique beginning of an id, or name. */
  async get(reference: string): Promise<Environment> {
    markDead(this.#engine)
    return new Environment(this.#engine, this.#engine.store.environments.resolve(reference))
  }

  /** Oldest first. */
  async list(options: ListOptions = {}): Promise<Environment[]> {
    markDead(this.#engine)
    const records = this.#engine.store.environments.list(options)
    return records.map((record) => new Environment(this.#engine, record))
  }

  async close(): Promise<void> {
    await this.#engine[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
