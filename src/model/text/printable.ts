// Characters that must not reach a terminal, a log or a web page unchanged: control characters (C0, DEL,
// C1), which control a terminal; those that reverse the direction of text, so that it reads as something
// else; separators that begin a line; tags and other invisible characters; lone surrogates.
const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what we search for
  /[\u0000-\u001f\u007f-\u009f\u061c\u180e\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/gu

/** Untrusted text on one line, with only characters that do no more than show themselves. */
export function printable(text: string): string {
  return text.replaceAll(hidden, '\ufffd')
}

/** Whether it can be shown unchanged. */
export function isPrintable(text: string): boolean {
  return text.search(hidden) === -1
}

/** JSON, or a part of it, with every such character except the line end escaped. */
export function escapeHidden(json: string): string {
  return json.replaceAll(hidden, (character) => (character === '\n' ? '\n' : escapes(character)))
}

function escapes(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
