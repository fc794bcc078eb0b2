import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const tests = resolve(import.meta.dirname, '../..')
const files = readdirSync(tests, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.endsWith('skips.test.ts'))
  .map((name) => join(tests, name))

/** Skips that could not say why: `unless(why)` and `ctx.skip(why)` can. */
const silent = /\.skipIf\(|\.runIf\(|\b(?:test|describe|it)\.(?:skip|todo|only)\b|\bskip\(\)/

test.each(files)('%s skips nothing without a reason', (file) => {
  expect(readFileSync(file, 'utf8')).not.toMatch(silent)
})
