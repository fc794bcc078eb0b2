import { Duplex } from 'node:stream'
import { connectPort, type PortTarget } from './ports.ts'
import type { AgentConnection } from './wire/connection.ts'

/** A TCP connection to a port inside, as a Node stream with flow control in both directions. */
export async function portStream(connection: AgentConnection, target: PortTarget): Promise<Duplex> {
  const stream = await connectPort(connection, target)
  const output = stream.output()
  // Whoever reads or writes gets the failure.
  stream.result.catch(() => {})
  const duplex = new Duplex({
    read: () => {
      output.read().then(
        (chunk) => duplex.push(chunk),
        (error: Error) => duplex.destroy(error),
      )
    },
    write: (chunk: Buffer, _encoding, done) => {
      stream.send(chunk).then(() => done(), done)
    },
    final: (done) => {
      stream.endInput().then(() => done(), done)
    },
    destroy: (error, done) => {
      stream.cancel()
      done(error)
    },
  })
  return duplex
}
