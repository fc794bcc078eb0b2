import { renderScreen, type ScreenText } from '../../agent/terminals/screen.ts'
import type { TerminalSize } from '../../agent/terminals/size.ts'
import {
  attachTerminal,
  closeTerminal,
  openTerminal,
  resizeTerminal,
  type TerminalHandle,
  type TerminalOptions,
} from '../../agent/terminals/terminals.ts'
import type { AgentConnection } from '../../agent/wire/connection.ts'
import { NotFoundError } from '../../model/errors.ts'
import { checked } from '../inputs/checked.ts'
import { chunk } from '../inputs/data.ts'
import { sizeInput, terminalInput } from '../inputs/file-inputs.ts'
import { TerminalViewer, type TerminalWatcher } from './terminal-viewer.ts'

/**
 * A terminal inside: a screen that a person or a program types into. It continues when nobody looks.
 *
 * @example
 * const terminal = env.terminal('build')
 * await terminal.write('make\n')
 * console.log((await terminal.screen()).text)
 */
export class Terminal {
  readonly name: string
  readonly #connect: () => Promise<AgentConnection>

  /** Made by `env.terminal(name)`. */
  constructor(name: string, connect: () => Promise<AgentConnection>) {
    this.name = name
    this.#connect = connect
  }

  /** Opens a viewer, which sees the screen, then live output, and can type. */
  async attach(options: TerminalOptions = {}): Promise<TerminalViewer> {
    const wanted = checked('attach', terminalInput, options)
    const open = async (size: TerminalSize | undefined) =>
      openTerminal(await this.#connect(), this.name, { ...wanted, ...size })
    return new TerminalViewer(await open(undefined), open)
  }

  /**
   * Looks on: the screen, then live output. It neither types nor changes the size, and the terminal must have
   * been started.
   */
  async watch(): Promise<TerminalWatcher> {
    const open = async () => await attachTerminal(await this.#connect(), this.name)
    return new TerminalViewer(await open(), open)
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

  /** What a person would see on the screen now. */
  async screen(): Promise<ScreenText> {
    const viewer = await this.#look()
    try {
      return await renderScreen(await viewer.readReplay(), await viewer.opened())
    } finally {
      viewer.detach()
    }
  }

  /** Hangs up, which ends the programs that run on it. */
  async close(): Promise<void> {
    await closeTerminal(await this.#connect(), this.name)
  }

  /** A viewer that does not change the terminal's size. Starts the terminal if it does not exist. */
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
