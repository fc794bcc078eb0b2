import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nobody, runAsNobody } from '../support/as-nobody.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { promises } from './promises/all.ts'
import { makeSources } from './sources.ts'

const program = fileURLToPath(new URL('programs/run-promises.ts', import.meta.url))

interface Result {
  readonly title: string
  readonly uid: number
  readonly failure: string | null
}

const open = new TemporaryDirectory()
let results: readonly Result[] = []

beforeAll(async () => {
  const { workspace, rootfs } = makeSources(open)
  const stdout = await runAsNobody(open, program, (home) => ['directory', home, workspace, rootfs])
  results = stdout
    .trim()
    .split('\n')
    .map((line): Result => JSON.parse(line))
})

afterAll(() => open[Symbol.dispose]())

describe('the directory backend of a user who is not root', () => {
  test.each(promises)('$title', ({ title }) => {
    expect(results.find((result) => result.title === title)).toEqual({
      title,
      uid: nobody,
      failure: null,
    })
  })
})
