import type headless from '@xterm/headless'
import { printed } from './rows.ts'

/** Modes that the emulator does not know, but a viewer may: reverse video, and how the mouse is reported. */
const otherModes = new Set([5, 1005, 1007, 1015])
const setColor = /^[\w#:/.,-]{1,64}$/
const maxTitle = 256
const maxKeyModes = 8
const maxPushed = 16

/** State that the emulator does not tell when asked: it is noted when a program sets it. */
export class Unasked {
  #title = ''
  #cursorStyle = 0
  readonly #modes = new Set<number>()
  /** by resource (xterm's modifyOtherKeys is 4) */
  readonly #keyModes = new Map<number, number>()
  /** flags of the kitty keyboard protocol, the present ones last */
  #pushed: number[] = []
  readonly #colors = new Map<string, string>()

  follow({ parser, onTitleChange }: headless.Terminal): void {
    onTitleChange((title) => {
      this.#title = printed(title).slice(0, maxTitle)
    })
    parser.registerCsiHandler(
      { intermediates: ' ', final: 'q' },
      note(([style]) => {
        this.#cursorStyle = style
      }),
    )
    parser.registerCsiHandler(
      { prefix: '?', final: 'h' },
      note((modes) => this.#switch(modes, 'on')),
    )
    parser.registerCsiHandler(
      { prefix: '?', final: 'l' },
      note((modes) => this.#switch(modes, 'off')),
    )
    parser.registerCsiHandler(
      { prefix: '>', final: 'm' },
      note(([resource, value]) => {
        if (value === 0) this.#keyModes.delete(resource)
        else if (this.#keyModes.size < maxKeyModes) this.#keyModes.set(resource, value)
      }),
    )
    parser.registerCsiHandler(
      { prefix: '>', final: 'u' },
      note(([flags]) => {
        this.#pushed = [...this.#pushed, flags].slice(-maxPushed)
      }),
    )
    parser.registerCsiHandler(
      { prefix: '<', final: 'u' },
      note(([count]) => {
        this.#pushed = this.#pushed.slice(0, -Math.max(1, count))
      }),
    )
    for (const which of [10, 11, 12]) this.#followColor(parser, which)
    parser.registerEscHandler({ final: 'c' }, () => this.#reset())
  }

  #followColor(parser: headless.IParser, which: number): void {
    parser.registerOscHandler(which, (color) => {
      if (setColor.test(color)) this.#colors.set(String(which), color)
      return false
    })
    parser.registerOscHandler(which + 100, () => {
      this.#colors.delete(String(which))
      return false
    })
  }

  #switch(modes: readonly number[], to: 'on' | 'off'): void {
    for (const mode of modes.filter((one) => otherModes.has(one))) {
      if (to === 'on') this.#modes.add(mode)
      else this.#modes.delete(mode)
    }
  }

  #reset(): boolean {
    this.#cursorStyle = 0
    this.#modes.clear()
    this.#keyModes.clear()
    this.#pushed = []
    return false
  }

  /** What sets it in a viewer. */
  sequences(): string {
    return [
      this.#cursorStyle > 0 ? `\u001b[${this.#cursorStyle} q` : '',
      ...[...this.#modes].map((mode) => `\u001b[?${mode}h`),
      ...[...this.#keyModes].map(([resource, value]) => `\u001b[>${resource};${value}m`),
      ...this.#pushed.map((flags) => `\u001b[>${flags}u`),
      ...[...this.#colors].map(([which, color]) => `\u001b]${which};${color}\u001b\\`),
      this.#title === '' ? '' : `\u001b]2;${this.#title}\u001b\\`,
    ].join('')
  }
}

type Numbers = readonly [first: number, second: number, ...number[]]

/** Looks at the numbers of a sequence, and leaves it to the emulator. */
function note(look: (numbers: Numbers) => void): (params: (number | number[])[]) => boolean {
  return (params) => {
    const [first = 0, second = 0, ...rest] = params.filter((value) => typeof value === 'number')
    look([first, second, ...rest])
    return false
  }
}
