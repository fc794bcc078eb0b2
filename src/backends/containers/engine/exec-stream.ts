import { Duplex } from 'node:stream'
import { BackendError } from '../../../model/errors.ts'

/** Before each piece of output: which stream it belongs to, three zeros, and its length. */
const headerBytes = 8
const stdout = 1

/** Enough for the relay's one line. */
const mostStderr = 4096

/**
 * The standard input and output of an exec as a byte stream. Without a terminal, engines send both
 * outputs in one connection, piece by piece. What is on stderr becomes the error if there was no output.
 */
export class ExecStream extends Duplex {
  /** what came out and went in, as sockets count it */
  bytesRead = 0
  bytesWritten = 0
  readonly #socket: Duplex
  #header = Buffer.alloc(0)
  #left = 0
  #channel = stdout
  #stderr = ''
  #gotOutput = false

  constructor(socket: Duplex) {
    super()
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('end', () => this.#ended())
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.bytesWritten += chunk.length
    this.#socket.write(chunk, done)
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }

  #receive(chunk: Buffer): void {
    this.bytesRead += chunk.length
    let rest = chunk
    while (rest.length > 0) {
      rest = this.#left === 0 ? this.#readHeader(rest) : this.#readPiece(rest)
    }
  }

  #readHeader(chunk: Buffer): Buffer {
    const missing = headerBytes - this.#header.length
    this.#header = Buffer.concat([this.#header, chunk.subarray(0, missing)])
    if (this.#header.length === headerBytes) {
      this.#channel = this.#header.readUInt8(0)
      this.#left = this.#header.readUInt32BE(4)
      this.#header = Buffer.alloc(0)
    }
    return chunk.subarray(missing)
  }

  #readPiece(chunk: Buffer): Buffer {
    const piece = chunk.subarray(0, this.#left)
    this.#left -= piece.length
    if (this.#channel === stdout) {
      this.#gotOutput = true
      if (!this.push(piece)) this.#socket.pause()
    } else {
      this.#stderr = (this.#stderr + piece.toString()).slice(-mostStderr)
    }
    return chunk.subarray(piece.length)
  }

  #ended(): void {
    if (this.#gotOutput) {
      this.push(null)
      return
    }
    const lastWords = this.#stderr.trim()
    this.destroy(
      new BackendError(`cannot reach the agent: ${lastWords || 'its relay ended'}`, {
        remedy: 'check with `forkpoint ls` that the environment is running',
        lastWords,
      }),
    )
  }
}
