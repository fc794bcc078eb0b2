import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readPage, root } from './markdown.ts'

const page = readPage('docs/troubleshooting.md')
const messages = Array.from(page.text.matchAll(/^### `(.+)`$/gm), ([, message = '']) => message)

/** Everything that can print a message: the program, its helpers in C, the bootstrap. */
const source = ['src', 'native/cell', 'native/agent', 'scripts']
  .flatMap((dir) => filesBelow(join(root, dir)))
  .filter((path) => /\.(ts|c|sh)$|\/bootstrap$/.test(path))
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n')

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name))
}

/** The fixed words of a message; `…` and words in capitals stand for what varies. */
function fixedParts(message: string): string[] {
  return message
    .split(/…|\b[A-Z][A-Z_]+\b/)
    .map((part) => part.replaceAll(/^[\s"':,(]+|[\s"':,()]+$/g, ''))
    .filter((part) => part.length > 3)
}

/** Whole, or put together of two pieces, as in `cannot ${verb}`. */
function isInSource(part: string): boolean {
  if (source.includes(part)) return true
  const words = part.split(' ')
  return words.some((_, at) => {
    const pieces = [words.slice(0, at).join(' '), words.slice(at).join(' ')]
    return pieces.every((piece) => piece.length > 3 && source.includes(piece))
  })
}

describe('the page on troubleshooting', () => {
  test('explains messages', () => {
    expect(messages.length).toBeGreaterThan(30)
  })

  test.each(messages)('explains a message that Forkpoint really prints: %s', (message) => {
    const parts = fixedParts(message)
    expect(parts.length).toBeGreaterThan(0)
    expect(parts.filter((part) => !isInSource(part))).toEqual([])
  })
})
