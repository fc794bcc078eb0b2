import { styleText } from 'node:util'
import type { Screen } from '../cli.ts'
import { type ColorMode, type Globals, loadGlobalSettings } from '../globals.ts'

type Paint = (text: string) => string

/** Names for what text means; whether that shows as colour depends on where it goes. */
export interface Style {
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
  if (mode === 'auto') return stream.isTTY === true ? colored : plain
  return mode === 'always' ? colored : plain
}

/** A broken configuration is reported as such; its colour is not worth a second complaint. */
function configuredMode(globals: Partial<Globals>): ColorMode {
  try {
    return loadGlobalSettings(globals).settings.color
  } catch {
    return 'auto'
  }
}

function paint(format: 'bold' | 'dim' | 'green' | 'yellow' | 'red'): Paint {
  return (text) => styleText(format, text, { validateStream: false })
}
