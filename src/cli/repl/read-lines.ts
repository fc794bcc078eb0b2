import { createInterface, type Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

export interface LineSource extends Disposable {
  /** shows the prompt and waits for a line; null: there are no more */
  next(prompt: string): Promise<string | null>
  /** called for Ctrl-C while nobody waits for a line */
  onInterrupt(listener: () => void): void
  /** lines so far, newest first */
  readonly history: readonly string[]
}

export interface LineOptions {
  readonly isTerminal: boolean
  readonly history: string[]
  readonly complete: (line: string) => Promise<[string[], string]>
}

/** Lines that a person types, with history and completion, or that are piped in. */
export function readLines(input: Readable, output: Writable, options: LineOptions): LineSource {
  const { isTerminal, complete } = options
  let history: readonly string[] = options.history
  const reader: Interface = createInterface({
    input,
    ...(isTerminal ? { output } : {}),
    terminal: isTerminal,
    history: options.history,
    historySize: 1000,
    removeHistoryDuplicates: true,
    completer: (line: string, done: (error: null, result: [string[], string]) => void) => {
      complete(line).then(
        (result) => done(null, result),
        // A completion that fails offers nothing; the line itself will report what is wrong.
        () => done(null, [[], line]),
      )
    },
  })
  const waiting: ((line: string | null) => void)[] = []
  const lines: string[] = []
  let isOver = false
  let interrupt = () => {}
  reader.on('line', (line) => {
    const first = waiting.shift()
    if (first === undefined) lines.push(line)
    else first(line)
  })
  reader.on('history', (now) => {
    history = now
  })
  reader.on('close', () => {
    isOver = true
    for (const each of waiting.splice(0)) each(null)
  })
  // Without a listener, Ctrl-C would end the input.
  reader.on('SIGINT', () => {
    if (waiting.length === 0) return interrupt()
    // Discards what was typed, as a shell does.
    reader.write(null, { ctrl: true, name: 'e' })
    reader.write(null, { ctrl: true, name: 'u' })
    output.write('\n')
    reader.prompt()
  })
  return {
    next: (prompt) => {
      const line = lines.shift()
      if (line !== undefined) return Promise.resolve(line)
      if (isOver) return Promise.resolve(null)
      reader.setPrompt(prompt)
      if (isTerminal) reader.prompt()
      return new Promise((resolve) => waiting.push(resolve))
    },
    onInterrupt: (listener) => {
      interrupt = listener
    },
    get history() {
      return history
    },
    [Symbol.dispose]: () => reader.close(),
  }
}
