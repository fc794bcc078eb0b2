import type { AgentConnection } from '../agent/connection.ts'
import { type ForwardOptions, forwardPort, type PortForward } from '../agent/ports.ts'
import { InvalidInputError } from '../model/errors.ts'
import { quote } from '../model/quote.ts'

/** Ports inside an environment, reached from the host without any network between them. */
export class EnvironmentPorts {
  readonly #connect: () => Promise<AgentConnection>

  /** Made by `Environment`. */
  constructor(connect: () => Promise<AgentConnection>) {
    this.#connect = connect
  }

  /**
   * Listens on the host and carries every connection to `port` inside.
   *
   * @example
   * await using web = await env.ports.forward(8000)
   * const page = await fetch(`http://127.0.0.1:${web.port}/`)
   */
  async forward(port: number, options: Omit<ForwardOptions, 'port'> = {}): Promise<PortForward> {
    for (const number of [port, options.listenPort ?? 1]) {
      if (!Number.isInteger(number) || number < 0 || number > 65_535) {
        throw new InvalidInputError(`not a port: ${quote(number)}`, { remedy: 'give 1 to 65535' })
      }
    }
    await this.#connect()
    return forwardPort(this.#connect, { ...options, port })
  }
}
