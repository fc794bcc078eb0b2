import { styleText } from 'node:util'
import { type ColorMode, type Globals, loadGlobalSettings } from '../../arguments/globals.ts'
import { columnsOf, type Screen } from '../../streams.ts'

type Paint = (text: string) => string

/** Names for what text means; whether it is shown in colour depends on where it goes. */
export interface Style {
  /** of the terminal that it goes to; absent: lines may have any length */
  readonly columns?: number | undefined
  readonly strong: Paint
  readonly faint: Paint
  readonly good: Paint
  readonly doubtful: Paint
  readonly bad: Paint
}

const same: Paint = (text) => text

export const plain: Style = { strong: same, faint: same, good: same, doubtful: same, bad: same }

const colored: Style = {
  strong: paint('bold'),
  faint: paint('dim'),
  good: paint('green'),
  doubtful: paint('yellow'),
  bad: paint('red'),
}

export function styleFor(stream: Screen, globals: Partial<Globals>): Style {
  const mode = globals.color ?? (process.env.NO_COLOR ? 'never' : configuredMode(globals))
  const isColored = mode === 'auto' ? stream.isTTY === true : mode === 'always'
  return { ...(isColored ? colored : plain), columns: columnsOf(stream) }
}

function configuredMode(globals: Partial<Globals>): ColorMode {
  try {
    return loadGlobalSettings(globals).settings.color
  } catch {
    // Nothing is lost: a broken configuration is reported by the command that uses it.
    return 'auto'
  }
}

function paint(format: 'bold' | 'dim' | 'green' | 'yellow' | 'red'): Paint {
  return (text) => styleText(format, text, { validateStream: false })
}
