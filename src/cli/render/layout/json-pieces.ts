/** How many elements of an array become one piece of text. */
const together = 256

/**
 * The output of `JSON.stringify(value, null, 2)`, in pieces: a long array in it is never one
 * text, which would need many times its own memory.
 */
export function* jsonPieces(value: unknown, indent = ''): Generator<string> {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) {
    yield textOf(value, indent)
  } else if (Array.isArray(value)) {
    yield* arrayPieces(value, indent)
  } else {
    yield* objectPieces(value, indent)
  }
}

function* arrayPieces(values: readonly unknown[], indent: string): Generator<string> {
  if (values.length <= together) return yield textOf(values, indent)
  const inner = `${indent}  `
  for (let at = 0; at < values.length; at += together) {
    const some = values.slice(at, at + together).map((each) => inner + textOf(each, inner))
    yield `${at === 0 ? '[' : ','}\n${some.join(',\n')}`
  }
  yield `\n${indent}]`
}

function* objectPieces(value: object, indent: string): Generator<string> {
  const inner = `${indent}  `
  let separator = '{'
  for (const [key, each] of Object.entries(value)) {
    if (each === undefined || typeof each === 'function') continue
    yield `${separator}\n${inner}${JSON.stringify(key)}: `
    yield* jsonPieces(each, inner)
    separator = ','
  }
  yield separator === '{' ? '{}' : `\n${indent}}`
}

function textOf(value: unknown, indent: string): string {
  const text = JSON.stringify(value, null, 2) ?? 'null'
  return indent === '' ? text : text.replaceAll('\n', `\n${indent}`)
}
