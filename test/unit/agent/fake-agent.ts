import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeFields, type Fields } from '../../../src/agent/wire/fields.ts'
import { encodeFrame, type Frame, FrameDecoder } from '../../../src/agent/wire/frames.ts'
import { FrameType } from '../../../src/agent/wire/wire.ts'

/** What a fake agent does with one connection. */
export type Script = (agent: FakeSide) => void | Promise<void>

/** The agent's side of one connection, to misbehave with. */
export class FakeSide {
  readonly socket: Socket
  readonly #decoder = new FrameDecoder()
  readonly #onFrame: ((frame: Frame) => void)[] = []

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      for (const frame of this.#decoder.push(chunk)) for (const hear of this.#onFrame) hear(frame)
    })
  }

  onFrame(hear: (frame: Frame) => void): void {
    this.#onFrame.push(hear)
  }

  /** Calls `answer` for every stream that the host opens. */
  onOpen(answer: (stream: number, frame: Frame) => void): void {
    this.onFrame((frame) => {
      if (frame.type === FrameType.open) answer(frame.stream, frame)
    })
  }

  hello(fields: Fields = { version: 1 }): void {
    this.send({ type: FrameType.hello, channel: 0, stream: 0, payload: encodeFields(fields) })
  }

  send(frame: Frame): void {
    this.socket.write(encodeFrame(frame))
  }

  data(stream: number, channel: number, payload: Buffer): void {
    this.send({ type: FrameType.data, channel, stream, payload })
  }

  result(stream: number, fields: Fields): void {
    this.send({ type: FrameType.result, channel: 0, stream, payload: encodeFields(fields) })
  }

  event(stream: number, fields: Fields): void {
    this.send({ type: FrameType.event, channel: 0, stream, payload: encodeFields(fields) })
  }

  error(stream: number, errno: number, message: string): void {
    const payload = encodeFields({ errno, message })
    this.send({ type: FrameType.error, channel: 0, stream, payload })
  }
}

/** A server at a Unix socket that plays `script` to whoever connects. */
export class FakeAgent implements AsyncDisposable {
  readonly directory: string
  readonly path: string
  readonly #server: Server
  readonly #sockets: Socket[] = []

  private constructor(script: Script) {
    this.directory = mkdtempSync(join(tmpdir(), 'forkpoint-fake-'))
    this.path = join(this.directory, 'agent.sock')
    this.#server = createServer((socket) => {
      this.#sockets.push(socket)
      void script(new FakeSide(socket))
    })
  }

  static async start(script: Script): Promise<FakeAgent> {
    const agent = new FakeAgent(script)
    await new Promise<void>((resolve) => agent.#server.listen(agent.path, resolve))
    return agent
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
    rmSync(this.directory, { recursive: true, force: true })
  }
}
