import { expect, test } from 'vitest'
import { loginLinks } from '../../../src/server/dashboard/links.ts'

const grant = { scope: 'read', labels: {}, expiresMs: 1000 } as const

test('a link works once', () => {
  const links = loginLinks()
  const { code } = links.make(grant)
  expect(links.use(code)).toEqual(grant)
  expect(() => links.use(code)).toThrow('used before')
})

test('a link that is two minutes old works no more', () => {
  let now = 0
  const links = loginLinks(() => now)
  const { code, expiresAt } = links.make(grant)
  now = expiresAt
  expect(() => links.use(code)).toThrow('older than two minutes')
})

test('however many are made, old ones give way, and the newest works', () => {
  const links = loginLinks()
  const codes = Array.from({ length: 1000 }, () => links.make(grant).code)
  expect(new Set(codes).size).toBe(1000)
  expect(() => links.use(codes[0] ?? '')).toThrow()
  expect(links.use(codes.at(-1) ?? '')).toEqual(grant)
})
