// The control sequences that only draw. Any other may have an effect beyond the screen: it makes the
// terminal answer as if somebody typed, writes to the clipboard, prints, notifies, resizes, or opens files.

/** Private modes that running programs rely on: keys, mouse, wrapping, cursor, alternate screens. */
const privateModes = new Set([
  1, 5, 6, 7, 8, 9, 12, 25, 45, 47, 66, 69, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1015,
  1016, 1047, 1048, 1049, 2004,
])
/** Insert mode, and line feed with carriage return. */
const ansiModes = new Set([4, 20])

/** CSI sequences without prefix or intermediate, by their last byte. */
const plainFinals = new Set('@ABCDEFGHIJKLMPSTXZ`abdefgmrsu')
/** With intermediates or a prefix: cursor style, soft reset, rectangles, and how keys are sent. */
const otherFinals = new Set([
  ' q',
  '!p',
  '$r',
  '$t',
  '$v',
  '$x',
  '$z',
  '${',
  '?J',
  '?K',
  '>m',
  '>u',
  '<u',
  '=u',
])

/** Whether the CSI sequence `CSI parameters intermediates final` only draws. */
export function csiDraws(body: string): boolean {
  const [, prefix = '', numbers = '', intermediates = '', final = ''] =
    /^([<=>?]?)([\d;:]*)([ -/]*)([@-~])$/.exec(body) ?? []
  const kind = `${prefix}${intermediates}${final}`
  if (kind === 'h' || kind === 'l') return allOf(numbers, ansiModes)
  if (kind === '?h' || kind === '?l') return allOf(numbers, privateModes)
  return kind.length === 1 ? plainFinals.has(kind) : otherFinals.has(kind)
}

function allOf(numbers: string, allowed: ReadonlySet<number>): boolean {
  return numbers !== '' && numbers.split(';').every((number) => allowed.has(Number(number)))
}

/** After ESC: cursor, index, tabs, reset, keypad, character sets, alignment. */
const escapes = /^(?:[6789=>DEHMNOcno|}~]|[()*+\-./].|#[3-68])$/su

export function escapeDraws(body: string): boolean {
  return escapes.test(body)
}

/** Sets and resets colours and links. A question mark would query a colour. */
const oscs = /^(?:8;.*|(?:4|1[0-2]|17|19);[^?]*|(?:104|11[0-2]|117|119)(?:;[\d;]*)?)$/su

export function oscDraws(body: string): boolean {
  return oscs.test(body)
}

/** Backspace, tab, line ends and shifts, but not the bell, or ENQ, which the terminal answers. */
export function controlDraws(code: number): boolean {
  return code >= 0x08 && code <= 0x0f
}
