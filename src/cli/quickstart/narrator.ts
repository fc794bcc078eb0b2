import type { Writable } from 'node:stream'
import { printable } from '../../model/text/printable.ts'
import { formatDuration } from '../../model/values/quantities.ts'
import type { Style } from '../render/layout/style.ts'
import { table } from '../render/layout/table.ts'
import { indent } from '../render/layout/text.ts'
import { say } from '../write.ts'

interface Step {
  readonly command: string
  readonly output: string
  readonly ms: number
}

interface Chapter {
  readonly title: string
  readonly commands: Step[]
}

interface Timing {
  readonly operation: string
  readonly ms: number
  readonly note: string
}

/** Describes what happens and shows the result, and keeps a record for `--json`. */
export class Narrator {
  /** for the output that callers pass to `step`, which prints it as it is */
  readonly style: Style
  readonly #screen: Writable | null
  readonly #signal: AbortSignal
  readonly #began = performance.now()
  readonly #chapters: Chapter[] = []
  readonly #timings: Timing[] = []

  constructor(screen: Writable | null, style: Style, signal: AbortSignal) {
    this.#screen = screen
    this.style = style
    this.#signal = signal
  }

  get signal(): AbortSignal {
    return this.#signal
  }

  get account(): object {
    const totalMs = Math.round(performance.now() - this.#began)
    return { ok: true, totalMs, steps: this.#chapters, timings: this.#timings }
  }

  async chapter(title: string, why: string): Promise<void> {
    this.#signal.throwIfAborted()
    this.#chapters.push({ title, commands: [] })
    const number = String(this.#chapters.length).padStart(2)
    const text = `${this.style.strong(`${number}  ${title}`)}\n${this.style.faint(indent(why, '    '))}`
    await this.#say(`\n${text}\n`)
  }

  /** Prints the command line that does the same, then what it would print, as `work` returns it. */
  async step<T>(
    command: string,
    work: () => Promise<T>,
    output: (result: T) => string,
  ): Promise<T> {
    this.#signal.throwIfAborted()
    await this.#say(`\n    ${this.style.good('$')} ${command}\n`)
    const began = performance.now()
    const result = await work()
    const ms = Math.round((performance.now() - began) * 10) / 10
    const text = output(result).trimEnd()
    this.#chapters.at(-1)?.commands.push({ command, output: text, ms })
    if (text !== '') await this.#say(`${indent(text, '    ')}\n`)
    return result
  }

  /** Output of a program inside, which must not move the cursor. */
  said(text: string): string {
    return text.trimEnd().split('\n').map(printable).join('\n')
  }

  timing(operation: string, ms: number, note = ''): void {
    this.#timings.push({ operation, ms: Math.round(ms * 10) / 10, note })
  }

  async timings(): Promise<void> {
    const columns = [
      { title: 'OPERATION', cell: ({ operation }: Timing) => operation },
      { title: 'TIME', cell: ({ ms }: Timing) => formatDuration(ms) },
      { title: '', cell: ({ note }: Timing) => note },
    ]
    await this.#say(`\n${indent(table(columns, this.#timings, this.style), '    ')}\n`)
  }

  async end(): Promise<void> {
    const took = formatDuration(performance.now() - this.#began)
    await this.#say(
      `\n${this.style.good(`done in ${took}`)}; nothing is left behind.\n` +
        'Try your own:  forkpoint create --from dir:. --name mine --net nat\n',
    )
  }

  async #say(text: string): Promise<void> {
    if (this.#screen !== null) await say(this.#screen, text)
  }
}
