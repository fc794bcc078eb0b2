/** Modes that are on in a terminal that nobody has changed: autowrap and a visible cursor. */
const onByDefault = new Set([7, 25])
/** Longer than any mode sequence that programs send; a longer one is not one. */
const longestSequence = 64

// `ESC [ ? numbers h|l` switches modes; `ESC c` is a full reset.
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const modeSequences = /\u001b(?:\[\?([\d;]+)([hl])|c)/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const begunSequence = /\u001b(?:\[(?:\?[\d;]*)?)?$/

/**
 * Follows which private modes (alternate screen, mouse, bracketed paste, hidden cursor) programs
 * inside have switched in the user's terminal, to be able to switch them back when leaving in the
 * middle of it.
 */
export class TerminalModes {
  readonly #changed = new Set<number>()
  #rest = ''

  /** Reads output on its way to the terminal, in pieces as they come. */
  follow(chunk: Buffer): void {
    const text = this.#rest + chunk.toString('latin1')
    for (const [, numbers = '', action] of text.matchAll(modeSequences)) {
      if (action === undefined) this.#changed.clear()
      else for (const number of numbers.split(';')) this.#switch(Number(number), action)
    }
    const begun = begunSequence.exec(text)?.[0] ?? ''
    this.#rest = begun.length < longestSequence ? begun : ''
  }

  /** What to send so that the terminal is as it was, its content and cursor left alone. */
  undo(): string {
    // Alternate screens last: leaving one brings the cursor back to where it was.
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
