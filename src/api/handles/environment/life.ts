import type { NetMode } from '../../../model/environment.ts'
import type {
  EndedCommand,
  InstanceStats,
  LogEntry,
  NetChange,
} from '../../contract/data/environment.ts'
import type { CallOptions } from '../../control.ts'
import { checked, type Given, options as optionsOf } from '../../inputs/checked.ts'
import * as e from '../../inputs/environment-inputs.ts'
import { labelChanges } from '../../inputs/maps.ts'
import { signal } from '../../inputs/values.ts'
import { EnvironmentCommands } from './commands.ts'
import { callInput } from './handle.ts'

const pauseInput = optionsOf({ ...e.pause, signal })
const policyInput = optionsOf({ ...e.policy, signal })
const netInput = optionsOf({ ...e.net, signal })
const endInput = optionsOf({ ...e.ending, signal })

export type PauseOptions = Given<typeof pauseInput>
export type PolicyOptions = Given<typeof policyInput>
export type NetOptions = Given<typeof netInput>
export type EndOptions = Given<typeof endInput>

/** How it lives: its policies, network, sleep, names, history and end. */
export abstract class EnvironmentLife extends EnvironmentCommands {
  /**
   * Changes what happens to it by itself: how long it exists, and what follows when nobody uses it. Null
   * takes a policy away.
   *
   * @example
   * await env.setPolicy({ ttlMs: 7_200_000, idle: { afterMs: 600_000, action: 'pause' } })
   */
  async setPolicy(policy: PolicyOptions): Promise<void> {
    const { signal, ...changes } = checked('policy', policyInput, policy)
    const input = { id: this.id, ...changes }
    this.learn(await this.control.call('environment.policy', input, { signal }))
  }

  /**
   * Changes its network. Programs inside continue, but their connections to the outside are cut; if only
   * `denyOut` and `allowOut` change, just those to what is denied now. Resolves to the other ends of those
   * that were open.
   *
   * @example
   * const cut = await env.setNet('none')
   * await env.setNet('nat', { denyOut: ['0.0.0.0/0'], allowOut: ['192.0.2.10'] })
   */
  async setNet(mode: NetMode, options: NetOptions = {}): Promise<NetChange['cut']> {
    const { signal, ...wanted } = checked('net', netInput, options)
    const input = { id: this.id, mode, ...wanted }
    const { environment, cut } = await this.control.call('environment.net', input, { signal })
    this.learn(environment)
    return cut
  }

  /** Freezes every process. Nothing inside notices. */
  async pause(options: PauseOptions = {}): Promise<void> {
    const { signal, ...wanted } = checked('pause', pauseInput, options)
    const input = { id: this.id, ...wanted }
    this.learn(await this.control.call('environment.pause', input, { signal }))
  }

  /** Continues. An environment that was released, or died with its host, comes back from its head. */
  async resume(options: CallOptions = {}): Promise<void> {
    const call = checked('resume', callInput, options)
    this.learn(await this.control.call('environment.resume', { id: this.id }, call))
  }

  async stats(options: CallOptions = {}): Promise<InstanceStats> {
    const call = checked('stats', callInput, options)
    return await this.control.call('environment.stats', { id: this.id }, call)
  }

  /** Its operations, oldest first, with the time that each step took. */
  async log(options: CallOptions = {}): Promise<readonly LogEntry[]> {
    const call = checked('log', callInput, options)
    return await this.control.call('environment.log', { reference: this.id }, call)
  }

  /** The last commands that have ended inside, oldest first. */
  async commandLog(options: CallOptions = {}): Promise<readonly EndedCommand[]> {
    const call = checked('commandLog', callInput, options)
    return await this.control.call('environment.commandLog', { reference: this.id }, call)
  }

  /**
   * Sets labels. The others stay, and null removes one.
   *
   * @example
   * await env.label({ stage: 'tested', draft: null })
   */
  async label(labels: Readonly<Record<string, string | null>>): Promise<void> {
    const input = { id: this.id, labels: checked('label', labelChanges, labels) }
    this.learn(await this.control.call('environment.label', input))
  }

  async rename(name: string, options: CallOptions = {}): Promise<void> {
    const input = { id: this.id, name: checked('rename', e.name, name) }
    const call = checked('rename', callInput, options)
    this.learn(await this.control.call('environment.rename', input, call))
  }

  /** Ends it and removes everything it has. Its snapshots stay. `force` as in `restore`. */
  async remove(options: EndOptions = {}): Promise<void> {
    const { signal, ...wanted } = checked('remove', endInput, options)
    await this.control.call('environment.remove', { id: this.id, ...wanted }, { signal })
  }
}
