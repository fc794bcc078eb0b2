import type { NewToken, TokenInfo } from '../contract/data/token.ts'
import type { Control } from '../control.ts'
import { checked, type Given, options as optionsOf } from '../inputs/checked.ts'
import { token } from '../inputs/token-inputs.ts'
import { word } from '../inputs/values.ts'

const createInput = optionsOf(token)

export type TokenOptions = Given<typeof createInput>

/** Who may use a daemon over the network. */
export class Tokens {
  readonly #control: Control

  /** Made by `Forkpoint`. */
  constructor(control: Control) {
    this.#control = control
  }

  /**
   * The answer has the secret. Nobody can read it again later.
   *
   * @example
   * const { token } = await fp.tokens.create({ name: 'ci', scope: 'branch', labels: { team: 'a' } })
   */
  async create(options: TokenOptions = {}): Promise<NewToken> {
    return await this.#control.call('token.create', checked('create', createInput, options))
  }

  /** Oldest first. */
  async list(): Promise<readonly TokenInfo[]> {
    return await this.#control.call('token.list', {})
  }

  /** Gives a token another secret, by its id or name. The old one is refused from now on. */
  async rotate(reference: string): Promise<NewToken> {
    const input = { reference: checked('rotate', word, reference) }
    return await this.#control.call('token.rotate', input)
  }

  async remove(reference: string): Promise<void> {
    await this.#control.call('token.remove', { reference: checked('remove', word, reference) })
  }
}
