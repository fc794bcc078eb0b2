import { UserError } from '@openai/agents'
import {
  Manifest,
  normalizeSandboxClientCreateArgs,
  type SandboxClient,
  type SandboxClientCreateArgs,
  type SandboxClientOptions,
} from '@openai/agents/sandbox'
import type { CreateOptions, ForkpointHandle } from '../api/handles/forkpoint.ts'
import { ForkpointSandboxSession, type ForkpointSessionState } from './openai/session.ts'
import { materialize } from './openai/workspace.ts'

export { ForkpointSandboxSession, type ForkpointSessionState } from './openai/session.ts'

/** The options of `fp.create`, such as `from: 'image:node:24'`. */
export type ForkpointClientOptions = SandboxClientOptions & CreateOptions

/**
 * Makes environments the sandboxes of agents of `@openai/agents`.
 *
 * @example
 * const client = new ForkpointSandboxClient(fp)
 * await run(agent, 'fix the tests', { sandbox: { client } })
 */
export class ForkpointSandboxClient
  implements SandboxClient<ForkpointClientOptions, ForkpointSessionState>
{
  readonly backendId = 'forkpoint'
  readonly supportsDefaultOptions = true
  readonly #forkpoint: ForkpointHandle
  readonly #defaults: CreateOptions

  /** `defaults` are those of every environment that it makes. */
  constructor(forkpoint: ForkpointHandle, defaults: CreateOptions = {}) {
    this.#forkpoint = forkpoint
    this.#defaults = defaults
  }

  async create(
    args?: SandboxClientCreateArgs<ForkpointClientOptions> | Manifest,
    manifestOptions?: ForkpointClientOptions,
  ): Promise<ForkpointSandboxSession> {
    const { manifest, options, snapshot } = normalizeSandboxClientCreateArgs(args, manifestOptions)
    if (snapshot !== undefined && snapshot.type !== 'noop') {
      throw new UserError(
        `snapshots of type ${snapshot.type} are not supported: use \`from: 'snapshot:ID'\`, which keeps processes, too`,
      )
    }
    const environment = await this.#forkpoint.create({ ...this.#defaults, ...options })
    try {
      await materialize(environment, manifest)
      return new ForkpointSandboxSession(environment, manifest)
    } catch (error) {
      await environment.remove()
      throw error
    }
  }

  async resume({
    environmentId,
    manifest,
  }: ForkpointSessionState): Promise<ForkpointSandboxSession> {
    return new ForkpointSandboxSession(await this.#forkpoint.get(environmentId), manifest)
  }

  async delete({ environmentId }: ForkpointSessionState): Promise<void> {
    await (await this.#forkpoint.get(environmentId)).remove()
  }

  /** Files are in the environment; only where they are has to be kept. */
  async serializeSessionState(state: ForkpointSessionState): Promise<Record<string, unknown>> {
    return { environmentId: state.environmentId, root: state.manifest.root }
  }

  async deserializeSessionState(state: Record<string, unknown>): Promise<ForkpointSessionState> {
    const { environmentId, root } = state
    if (typeof environmentId !== 'string' || typeof root !== 'string') {
      throw new UserError('not the state of a session of Forkpoint')
    }
    return { environmentId, manifest: new Manifest({ root }), workspaceReady: true }
  }
}
