import type headless from '@xterm/headless'
import type { AgentConnection, CallOptions } from './connection.ts'
import { attachTerminal, type TerminalSize } from './terminals.ts'

/** A terminal as a person would see it. */
export interface ScreenText extends TerminalSize {
  /** One string a row, without the blanks at its end. */
  readonly lines: readonly string[]
  readonly cursor: { readonly col: number; readonly row: number }
  /** True while a full-screen program shows its own screen. */
  readonly isAlternate: boolean
}

/** More columns or rows than this are the doing of hostile code, not of a display. */
const MAX_CELLS_A_SIDE = 2000

/** An emulated display that follows a terminal's output. */
export class Screen implements Disposable {
  readonly #terminal: headless.Terminal

  private constructor(terminal: headless.Terminal) {
    this.#terminal = terminal
  }

  /** The emulator is loaded when it is first needed: most commands never show a screen. */
  static async open(size: TerminalSize): Promise<Screen> {
    const { default: emulator } = await import('@xterm/headless')
    const terminal = new emulator.Terminal({
      cols: clamp(size.cols),
      rows: clamp(size.rows),
      scrollback: 0,
      allowProposedApi: true,
    })
    return new Screen(terminal)
  }

  /** Resolves when the bytes have had their effect. */
  write(data: Buffer | string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#terminal.write(data, resolve)
    return promise
  }

  resize(size: TerminalSize): void {
    this.#terminal.resize(clamp(size.cols), clamp(size.rows))
  }

  text(): ScreenText {
    const { cols, rows, buffer } = this.#terminal
    const { active } = buffer
    const lines = Array.from({ length: rows }, (_, row) =>
      (active.getLine(active.baseY + row)?.translateToString(true) ?? '').trimEnd(),
    )
    return {
      cols,
      rows,
      lines,
      cursor: { col: active.cursorX, row: active.cursorY },
      isAlternate: active.type === 'alternate',
    }
  }

  [Symbol.dispose](): void {
    this.#terminal.dispose()
  }
}

/** What is on a display of `size` after `replay`. */
export async function renderScreen(replay: Buffer, size: TerminalSize): Promise<ScreenText> {
  using screen = await Screen.open(size)
  await screen.write(replay)
  return screen.text()
}

/** What the terminal `name` shows now. */
export async function readScreen(
  connection: AgentConnection,
  name: string,
  options: CallOptions = {},
): Promise<ScreenText> {
  const viewer = await attachTerminal(connection, name, options)
  try {
    const size = await viewer.opened()
    return await renderScreen(await viewer.readReplay(), size)
  } finally {
    viewer.detach()
  }
}

function clamp(cells: number): number {
  return Math.max(1, Math.min(cells, MAX_CELLS_A_SIDE))
}
