import type { Duplex } from 'node:stream'
import { readFile } from '../../agent/files/file-content.ts'
import { listeningPorts, longestTable, socketTables } from '../../agent/listening-ports.ts'
import { portStream } from '../../agent/port-stream.ts'
import { type ForwardOptions, forwardPort, type PortForward } from '../../agent/ports.ts'
import type { AgentConnection } from '../../agent/wire/connection.ts'
import { checked } from '../inputs/checked.ts'
import { forwardInput, portInput } from '../inputs/file-inputs.ts'

/** Ports inside an environment. The host reaches them without any network in between. */
export class EnvironmentPorts {
  readonly #connect: () => Promise<AgentConnection>

  /** Made by `Environment`. */
  constructor(connect: () => Promise<AgentConnection>) {
    this.#connect = connect
  }

  /**
   * Listens on the host and forwards every connection to `port` inside.
   *
   * @example
   * await using web = await env.ports.forward(8000)
   * const page = await fetch(`http://127.0.0.1:${web.port}/`)
   */
  async forward(port: number, options: Omit<ForwardOptions, 'port'> = {}): Promise<PortForward> {
    const target = checked('port', portInput, port)
    const wanted = checked('forward', forwardInput, options)
    await this.#connect()
    return forwardPort(this.#connect, { ...wanted, port: target })
  }

  /**
   * The ports inside on which something listens, as far as `forward` and `connect` reach them.
   *
   * @example
   * const [first] = await env.ports.list()
   */
  async list(): Promise<number[]> {
    const connection = await this.#connect()
    const read = async (path: string) =>
      (await readFile(connection, path, { lengthBytes: longestTable })).toString('latin1')
    return listeningPorts(await Promise.all(socketTables.map(read)))
  }

  /** Opens one connection to `port` inside. */
  async connect(port: number): Promise<Duplex> {
    const target = checked('port', portInput, port)
    return await portStream(await this.#connect(), { port: target })
  }
}
