import { ForkpointHandle } from './api/handles/forkpoint.ts'
import { checked, type Input, options as optionsOf, value } from './api/inputs/checked.ts'
import { oneOf, path } from './api/inputs/values.ts'
import { type ConnectOptions, type ConnectTarget, connectTo } from './client/connect.ts'
import { hostFacts } from './config/host-facts.ts'
import type { Flags } from './config/layers.ts'
import { type LoadedSettings, loadSettings } from './config/load-settings.ts'
import { engineControl } from './engine/control/engine-control.ts'
import { type Doctor, doctor } from './engine/doctor.ts'
import { openEngine } from './engine/engine.ts'
import { appliesIn } from './engine/recovery/applies.ts'
import { openLog } from './log/open-log.ts'

/** Keys and values are checked later, together with those of files and variables. */
const flags: Input<Flags> = value('an object with settings', (given) =>
  typeof given === 'object' && given !== null && !Array.isArray(given) ? { ...given } : undefined,
)

const openInput = optionsOf({
  home: path,
  settings: flags,
  configPath: path,
  spares: oneOf('prepared', 'borrowed'),
})

export interface OpenOptions {
  /** directory of the store; the same as `settings.home` */
  readonly home?: string
  /** settings that come before variables and files, as `forkpoint config` names them */
  readonly settings?: Flags
  /** a configuration file to read before the user's and the system's */
  readonly configPath?: string
  /**
   * `prepared` (default): prepares likely next branches in the background, as `spares.count` says;
   * `borrowed`: only uses those of other processes, which suits a process that ends soon
   */
  readonly spares?: 'prepared' | 'borrowed'
}

/**
 * Live environments on this machine, and the tree of their snapshots.
 *
 * @example
 * await using fp = await Forkpoint.open()
 * const env = await fp.create({ from: 'host', name: 'try' })
 * const ready = await env.snapshot({ name: 'ready' })
 * const tries = await ready.fork(3)
 * await env.restore(ready)
 */
export class Forkpoint extends ForkpointHandle {
  /** Opens this machine's store and cleans up after processes that were killed. */
  static async open(options: OpenOptions = {}): Promise<Forkpoint> {
    const { spares = 'prepared', ...rest } = checked('open', openInput, options)
    const { settings } = Forkpoint.settings(rest)
    const log = await openLog(settings.log)
    // A process that prepares spares keeps running, and so can keep policies.
    const policies = spares === 'prepared' ? 'kept' : 'left'
    const engine = await openEngine(settings, { spares, log, policies })
    return new Forkpoint(engineControl(engine), { stateDir: appliesIn(engine.settings.home) })
  }

  /**
   * Connects to a daemon, here or elsewhere. Everything works as with `open`, but in the daemon.
   *
   * @example
   * await using fp = await Forkpoint.connect('https://build-1:7070', { token })
   */
  static async connect(target: ConnectTarget, options: ConnectOptions = {}): Promise<Forkpoint> {
    const { control, stateDir } = await connectTo(target, options)
    return new Forkpoint(control, { stateDir })
  }

  /** The effective settings, and where each comes from. */
  static settings(options: OpenOptions = {}): LoadedSettings {
    const { home, settings = {}, configPath } = checked('open', openInput, options)
    const flags = home === undefined ? settings : { ...settings, home }
    return loadSettings({ flags, env: process.env, facts: hostFacts(), configPath })
  }

  /** Checks everything that Forkpoint needs on this machine by using it; needs no open store. */
  static async doctor(options: OpenOptions = {}): Promise<Doctor> {
    return await doctor(Forkpoint.settings(options).settings)
  }
}
