import { FitAddon } from '@xterm/addon-fit'
import { type ITheme, Terminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import { withSheets } from './sheets.ts'

export interface ScreenSize {
  readonly cols: number
  readonly rows: number
}

/** A screen in the page. */
export interface Screen {
  write(data: Uint8Array | string): void
  /** Forgets what it shows; the daemon draws it again. */
  reset(): void
  focus(): void
  /** As large as its place; what it is now. */
  fit(): ScreenSize
  resize(size: ScreenSize): void
  /** Takes the colours of the page again. */
  paint(): void
  close(): void
}

/** `typed`: by a person. `answered`: by the screen itself, to a question of the program that writes on it. */
export type Source = 'typed' | 'answered'

interface ScreenOptions {
  readonly label: string
  onData(data: string, source: Source): void
}

const scrollback = 2000
const fontSize = 12.5

export function openScreen(place: HTMLElement, { label, onData }: ScreenOptions): Screen {
  const terminal = new Terminal({
    fontFamily: styleOf('--mono'),
    fontSize,
    scrollback,
    cursorBlink: false,
    theme: theme(),
    minimumContrastRatio: 4.5,
    screenReaderMode: false,
  })
  const fitting = new FitAddon()
  terminal.loadAddon(fitting)
  withSheets(() => terminal.open(place))
  terminal.textarea?.setAttribute('aria-label', label)
  let key: string | null = null
  terminal.onKey((pressed) => {
    key = pressed.key
  })
  terminal.onData((data) => {
    onData(data, sourceOf(data, key))
    key = null
  })
  return {
    write: (data) => terminal.write(data),
    reset: () => terminal.reset(),
    focus: () => terminal.focus(),
    fit: () => {
      fitting.fit()
      return { cols: terminal.cols, rows: terminal.rows }
    },
    resize: ({ cols, rows }) => terminal.resize(cols, rows),
    paint: () => {
      terminal.options.theme = theme()
    },
    close: () => terminal.dispose(),
  }
}

const esc = '\x1b'
const pasted = `${esc}[200~`

/** Answers of a screen begin with an escape, and no key or paste precedes them. */
export function sourceOf(data: string, key: string | null): Source {
  const isTyped = data === key || data.startsWith(pasted) || !data.startsWith(esc)
  return isTyped ? 'typed' : 'answered'
}

/** The sixteen colours are legible on the paper of the page, in the light and in the dark. */
const lightInks = '#1f2529 #a32e1c #17694c #875600 #2453a0 #8a5a9c #2d7a78 #535d5a'.split(' ')
const darkInks = '#434c51 #f39580 #72d3a8 #e2b264 #93b9ff #c49ad4 #7cc9c6 #e0e5e2'.split(' ')

function theme(): ITheme {
  const background = colourOf('--sheet')
  const isDark = brightness(background) < 128
  const [black, red, green, yellow, blue, magenta, cyan, white] = isDark ? darkInks : lightInks
  const plain = { black, red, green, yellow, blue, magenta, cyan, white }
  const bright = Object.entries(plain).map(([name, colour]) => [
    `bright${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    colour,
  ])
  return {
    ...plain,
    ...Object.fromEntries(bright),
    background,
    foreground: colourOf('--ink'),
    cursor: colourOf('--live'),
    cursorAccent: background,
    selectionBackground: colourOf('--mark-wash'),
    scrollbarSliderBackground: colourOf('--line'),
    scrollbarSliderHoverBackground: colourOf('--line-strong'),
    scrollbarSliderActiveBackground: colourOf('--line-strong'),
  }
}

function styleOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

/** A token may depend on the theme; the browser knows what it is now. */
function colourOf(name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const [r = 0, g = 0, b = 0] = getComputedStyle(probe).color.match(/\d+/g)?.map(Number) ?? []
  probe.remove()
  return `#${[r, g, b].map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

function brightness(colour: string): number {
  const value = Number.parseInt(colour.slice(1), 16)
  return ((value >> 16) * 299 + ((value >> 8) & 255) * 587 + (value & 255) * 114) / 1000
}
