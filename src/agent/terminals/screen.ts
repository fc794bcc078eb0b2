import type headless from '@xterm/headless'
import { ResourceError } from '../../model/errors.ts'
import { redraw, type Viewer } from './redraw/redraw.ts'
import { Unasked } from './redraw/unasked.ts'
import type { TerminalSize } from './size.ts'

/** What a person would see on a terminal. */
export interface ScreenText extends TerminalSize {
  /** One string per row, without trailing blanks. */
  readonly lines: readonly string[]
  readonly cursor: { readonly col: number; readonly row: number }
  /** True while a full-screen program shows its own screen. */
  readonly isAlternate: boolean
}

/** Only hostile code has more columns or rows than this. */
const MAX_COLS = 1000
const MAX_ROWS = 500
/** A replay is drawn in slices, because a few bytes may change every cell of a screen. */
const SLICE_BYTES = 8192
/** Drawing the output of real programs takes milliseconds. */
const MAX_DRAW_MS = 5000

/** An emulated display that follows a terminal's output. */
export class Screen implements Disposable {
  readonly #terminal: headless.Terminal
  readonly #unasked = new Unasked()

  private constructor(terminal: headless.Terminal) {
    this.#terminal = terminal
    this.#unasked.follow(terminal)
  }

  /** Loads the emulator on first use, because most commands never show a screen. */
  static async open(size: TerminalSize, historyLines = 0): Promise<Screen> {
    const { default: emulator } = await import('@xterm/headless')
    const terminal = new emulator.Terminal({
      ...clamped(size),
      scrollback: historyLines,
      allowProposedApi: true,
    })
    return new Screen(terminal)
  }

  /** Resolves when the bytes have been drawn. */
  write(data: Buffer | string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#terminal.write(data, resolve)
    return promise
  }

  resize(size: TerminalSize): void {
    const { cols, rows } = clamped(size)
    this.#terminal.resize(cols, rows)
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

  /** What draws this screen on the terminal of a viewer. This screen is of no use afterwards. */
  async redraw(viewer: Viewer): Promise<Buffer> {
    return Buffer.from(await redraw(this.#terminal, this.#unasked, viewer))
  }

  [Symbol.dispose](): void {
    this.#terminal.dispose()
  }
}

/** The content of a display of `size` after `replay`. */
export async function renderScreen(replay: Buffer, size: TerminalSize): Promise<ScreenText> {
  using screen = await drawn(replay, size)
  return screen.text()
}

/** A display of `size` after `replay`. */
export async function drawn(replay: Buffer, size: TerminalSize, historyLines = 0): Promise<Screen> {
  const screen = await Screen.open(size, historyLines)
  const deadline = performance.now() + MAX_DRAW_MS
  for (let at = 0; at < replay.length; at += SLICE_BYTES) {
    if (performance.now() > deadline) {
      screen[Symbol.dispose]()
      throw tooMuchToDraw()
    }
    await screen.write(replay.subarray(at, at + SLICE_BYTES))
  }
  return screen
}

function clamped({ cols, rows }: TerminalSize): TerminalSize {
  return {
    cols: Math.max(1, Math.min(cols, MAX_COLS)),
    rows: Math.max(1, Math.min(rows, MAX_ROWS)),
  }
}

function tooMuchToDraw(): ResourceError {
  return new ResourceError(`the screen takes longer than ${MAX_DRAW_MS} ms to draw`, {
    remedy: 'close the terminal: its output is designed to be slow to draw',
  })
}
