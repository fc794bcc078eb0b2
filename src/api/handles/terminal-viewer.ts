import type { ExitStatus } from '../../agent/commands/signals.ts'
import type { TerminalSize } from '../../agent/terminals/size.ts'
import type { TerminalHandle } from '../../agent/terminals/terminals.ts'
import { ConflictError } from '../../model/errors.ts'
import { checked } from '../inputs/checked.ts'
import { chunk } from '../inputs/data.ts'
import { sizeInput } from '../inputs/file-inputs.ts'
import { Followed } from './follow.ts'

/** One who sees a terminal, and cannot type. */
export type TerminalWatcher = Pick<TerminalViewer, 'name' | 'exit' | 'opened' | 'data' | 'detach'>

interface Shown {
  readonly viewer: TerminalHandle
  readonly output: AsyncGenerator<Buffer, void, undefined>
}

/**
 * One viewer of a terminal. Every viewer sees everything and can type. A viewer survives snapshots and
 * lost connections: its screen is drawn again, followed by live output.
 */
export class TerminalViewer {
  readonly name: string
  /** How the terminal's program ended. */
  readonly exit: Promise<ExitStatus>
  readonly #followed: Followed<TerminalHandle>
  #last: TerminalHandle
  #size: TerminalSize | undefined
  /** what the screen shows now; null before the first output */
  #shown: Shown | null = null

  /** Made by `terminal.attach`. */
  constructor(
    first: TerminalHandle,
    open: (size: TerminalSize | undefined) => Promise<TerminalHandle>,
  ) {
    this.name = first.name
    this.#last = first
    this.#followed = new Followed(first, async () => {
      this.#last = await open(this.#size)
      return this.#last
    })
    this.exit = this.#followed.with(({ exit }) => exit)
    // Whoever awaits it gets the failure, but nobody has to.
    this.exit.catch(() => {})
  }

  /** The terminal's state when this viewer was last attached. */
  opened(): Promise<TerminalSize & { pid: number; replayBytes: number }> {
    return this.#followed.with((viewer) => viewer.opened())
  }

  /**
   * What to show: the screen first, then live output. The screen of a viewer that was cut off, or is too
   * slow, is drawn again. Drawing it never queries the viewer's terminal, writes to its clipboard or
   * rings its bell: that happens only with live output.
   */
  async *data(): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      const next = await this.#followed.with((viewer) => this.#outputOf(viewer).next())
      if (next.done) return
      yield next.value
    }
  }

  #outputOf(viewer: TerminalHandle): AsyncGenerator<Buffer, void, undefined> {
    if (viewer !== this.#shown?.viewer) {
      const output = viewer.data(this.#shown === null ? 'newcomer' : 'returning')
      this.#shown = { viewer, output }
    }
    return this.#shown.output
  }

  /** Types. Rejects if the connection breaks meanwhile, because nobody knows then what arrived. */
  async write(data: string | Buffer): Promise<void> {
    const bytes = checked('write', chunk, data)
    await this.#followed.once((viewer) => viewer.write(bytes))
  }

  async resize(size: TerminalSize): Promise<void> {
    const wanted = checked('resize', sizeInput, size)
    this.#size = wanted
    await this.#followed.with((viewer) => viewer.resize(wanted))
  }

  /** Leaves the terminal as it is. Its program continues. */
  detach(): void {
    this.#followed.leave(
      new ConflictError(`this viewer no longer follows terminal ${this.name}`, {
        remedy: 'attach to it again',
      }),
    )
    this.#last.detach()
  }
}
