import type { AgentConnection } from '../../../agent/wire/connection.ts'
import type { Capability } from '../../../model/capabilities.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import { notRunning } from '../../../model/not-running.ts'
import { unsupported } from '../../../model/unsupported.ts'
import type { EnvironmentInfo } from '../../contract/data/environment.ts'
import type { CallOptions, Control } from '../../control.ts'
import { checked, options as optionsOf } from '../../inputs/checked.ts'
import { signal } from '../../inputs/values.ts'
import type { Handles } from '../handles.ts'

export const callInput = optionsOf({ signal })

/** Which environment it is, and the ways to it. */
export abstract class EnvironmentHandle {
  readonly kind = 'environment'
  readonly id: EnvironmentId
  protected readonly handles: Handles
  #info: EnvironmentInfo

  constructor(handles: Handles, info: EnvironmentInfo) {
    this.handles = handles
    this.#info = info
    this.id = info.id
  }

  get name(): string | null {
    return this.#info.name
  }

  get backend(): string {
    return this.#info.backend
  }

  /** What this handle last learned about it; `info` asks again. */
  get lastInfo(): EnvironmentInfo {
    return this.#info
  }

  /**
   * Its status, head, capabilities, labels and so on, as they are now.
   *
   * @example
   * const { status, head } = await env.info()
   */
  async info(options: CallOptions = {}): Promise<EnvironmentInfo> {
    return await this.ask(checked('info', callInput, options))
  }

  protected get control(): Control {
    return this.handles.control
  }

  protected learn(info: EnvironmentInfo): EnvironmentInfo {
    this.#info = info
    return info
  }

  protected async ask(call?: CallOptions): Promise<EnvironmentInfo> {
    return this.learn(await this.control.call('environment.get', { reference: this.id }, call))
  }

  /** Throws if the environment is not running, instead of waiting for an agent that cannot answer. */
  protected async connect(needed?: Capability): Promise<AgentConnection> {
    const info = await this.#awake()
    const isSupported = needed === undefined || info.capabilities.includes(needed)
    if (!isSupported) throw unsupported(info.backend, needed)
    return await this.handles.connections.to(info)
  }

  /** Brings it back if it sleeps and may be woken. Throws for any other that is not running. */
  async #awake(): Promise<EnvironmentInfo> {
    const info = await this.ask()
    if (info.status === 'running') return info
    if (info.status !== 'paused' && info.status !== 'released') throw notRunning(info)
    return this.learn(await this.control.call('environment.wake', { id: this.id }))
  }
}
