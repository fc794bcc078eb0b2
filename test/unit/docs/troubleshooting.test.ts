import { describe, expect, test } from 'vitest'
import { readPage } from './markdown.ts'
import { hole, literalsOfCode } from './messages-of-code.ts'

const page = readPage('docs/troubleshooting.md')
const messages = Array.from(page.text.matchAll(/^### `(.+)`$/gm), ([, message = '']) => message)
const literals = literalsOfCode()

interface Template {
  readonly parts: readonly string[]
  readonly pattern: RegExp
}

/** Literals with fixed words; one with only holes would match anything. */
const templates: readonly Template[] = Array.from(literals)
  .filter((literal) => literal.includes(hole) && /[a-z]{3}/.test(literal))
  .map((literal) => {
    const parts = literal.split(hole)
    return { parts, pattern: new RegExp(`^${parts.map(RegExp.escape).join('.+')}$`, 's') }
  })

/**
 * Whether the code prints exactly this, from the first word to the last. What the code puts into a
 * message is `…` on the page, or again something whole that the code has.
 */
function isWhole(message: string, depth = 0): boolean {
  if (message === hole || literals.has(message)) return true
  if (depth > 2) return false
  return templates.some(({ parts: [first = '', ...rest], pattern }) => {
    return pattern.test(message) && isFilled(message.slice(first.length), rest, depth)
  })
}

/** Whether `text` is something that fills a hole, then the first of `parts`, and so on. */
function isFilled(text: string, [part = '', ...rest]: readonly string[], depth: number): boolean {
  if (rest.length === 0) {
    return text.endsWith(part) && isWhole(text.slice(0, text.length - part.length), depth + 1)
  }
  for (let at = text.indexOf(part, 1); at > 0; at = text.indexOf(part, at + 1)) {
    const after = text.slice(at + part.length)
    if (isWhole(text.slice(0, at), depth + 1) && isFilled(after, rest, depth)) return true
  }
  return false
}

describe('the page on troubleshooting', () => {
  test('explains messages', () => {
    expect(messages.length).toBeGreaterThan(30)
  })

  test.each(messages)('explains a whole message that Forkpoint prints: %s', (message) => {
    expect(isWhole(message)).toBe(true)
  })

  test('would notice a message that lacks its end', () => {
    expect(isWhole('cannot use … as')).toBe(false)
    expect(isWhole('cannot use … as home')).toBe(false)
    expect(isWhole('cannot execute …')).toBe(false)
    expect(isWhole('agent broke the protocol: …')).toBe(false)
  })
})
