/** Modes that are on by default in a terminal: autowrap and a visible cursor. */
const onByDefault = new Set([7, 25])
/** Longer than any mode sequence that programs send; anything longer is not one. */
const longestSequence = 64

// `ESC [ ? numbers h|l` switches modes; `ESC c` is a full reset.
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const modeSequences = /\u001b(?:\[\?([\d;]+)([hl])|c)/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const begunSequence = /\u001b(?:\[(?:\?[\d;]*)?)?$/

/**
 * Tracks which private modes (alternate screen, mouse, bracketed paste, hidden cursor) programs inside
 * have switched in the user's terminal, so that they can be switched back if the user detaches while the
 * program runs.
 */
export class TerminalModes {
  readonly #changed = new Set<number>()
  #rest = ''

  /** Reads output on its way to the terminal, piece by piece. */
  follow(chunk: Buffer): void {
    const text = this.#rest + chunk.toString('latin1')
    for (const [, numbers = '', action] of text.matchAll(modeSequences)) {
      if (action === undefined) this.#changed.clear()
      else for (const number of numbers.split(';')) this.#switch(Number(number), action)
    }
    const begun = begunSequence.exec(text)?.[0] ?? ''
    this.#rest = begun.length < longestSequence ? begun : ''
  }

  /** What to send to reset the terminal's modes, leaving its content and cursor alone. */
  undo(): string {
    // Alternate screens last: leaving one moves the cursor back to where it was.
    const changed = [...this.#changed].sort((a, b) => a - b)
    this.#changed.clear()
    const back = changed.map((mode) => `\u001b[?${mode}${onByDefault.has(mode) ? 'h' : 'l'}`)
    // Soft reset: margins, attributes, character sets and keypad.
    return `${back.join('')}\u001b[!p\u001b[0m`
  }

  #switch(mode: number, action: string): void {
    if ((action === 'h') === onByDefault.has(mode)) this.#changed.delete(mode)
    else this.#changed.add(mode)
  }
}
