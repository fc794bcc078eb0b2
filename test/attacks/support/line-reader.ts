/** Reads lines from chunks of output. */
export class LineReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest = ''

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** The lines before the next one that is `last`. */
  async until(last: string): Promise<string[]> {
    const lines: string[] = []
    for (;;) {
      const end = this.#rest.indexOf('\n')
      if (end === -1) {
        await this.#more(lines)
        continue
      }
      const line = this.#rest.slice(0, end)
      this.#rest = this.#rest.slice(end + 1)
      if (line === last) return lines
      lines.push(line)
    }
  }

  async #more(lines: readonly string[]): Promise<void> {
    const { value, done } = await this.#chunks.next()
    if (done) throw new Error(`the program ended after ${lines.at(-1) ?? 'nothing'}${this.#rest}`)
    this.#rest += value.toString()
  }
}
