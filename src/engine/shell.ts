import { renderScreen, type ScreenText } from '../agent/terminals/screen.ts'
import {
  attachTerminal,
  closeTerminal,
  openTerminal,
  resizeTerminal,
  type TerminalHandle,
  type TerminalOptions,
  type TerminalSize,
} from '../agent/terminals/terminals.ts'
import type { AgentConnection } from '../agent/wire/connection.ts'
import { NotFoundError } from '../model/errors.ts'
import { checked } from './inputs/checked.ts'
import { chunk } from './inputs/data.ts'
import { sizeInput, terminalInput } from './inputs/file-inputs.ts'

/** An interactive terminal inside. It lives on when nobody looks. */
export class Shell {
  readonly name: string
  readonly #connect: () => Promise<AgentConnection>

  /** Made by `env.shell(name)`. */
  constructor(name: string, connect: () => Promise<AgentConnection>) {
    this.name = name
    this.#connect = connect
  }

  /** A viewer: sees recent output, then live output, and may type. */
  async attach(options: TerminalOptions = {}): Promise<TerminalHandle> {
    const wanted = checked('attach', terminalInput, options)
    return openTerminal(await this.#connect(), this.name, wanted)
  }

  async write(data: string | Buffer): Promise<void> {
    const bytes = checked('write', chunk, data)
    const viewer = await this.#look()
    try {
      await viewer.write(bytes)
    } finally {
      viewer.detach()
    }
  }

  async resize(size: TerminalSize): Promise<void> {
    const wanted = checked('resize', sizeInput, size)
    await resizeTerminal(await this.#connect(), this.name, wanted)
  }

  /** What a person would see on it now. */
  async screen(): Promise<ScreenText> {
    const viewer = await this.#look()
    try {
      return await renderScreen(await viewer.readReplay(), await viewer.opened())
    } finally {
      viewer.detach()
    }
  }

  /** Hangs up; what runs on it is ended. */
  async close(): Promise<void> {
    await closeTerminal(await this.#connect(), this.name)
  }

  /** A viewer that leaves the terminal's size alone; starts it if it is not there. */
  async #look(): Promise<TerminalHandle> {
    const connection = await this.#connect()
    try {
      return await attachTerminal(connection, this.name)
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error
      return openTerminal(connection, this.name)
    }
  }
}
