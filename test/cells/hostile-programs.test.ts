import { expect, test } from 'vitest'
import { bytesRead, mapper, sparseLibrary } from '../support/hostile-programs.ts'
import { compileC } from '../support/real-programs.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'

const mib = 2 ** 20

test('huge programs cost a snapshot no more than its budget, and are copied', async () => {
  using files = new TemporaryDirectory()
  await using home = new TestHome('hostile-programs', { spares: 0 })
  const fp = await home.open()
  compileC(mapper, files.file('mapper'))
  const sizes = [...Array(10).fill(1000), ...Array(10).fill(300)]
  for (const [i, size] of sizes.entries()) {
    sparseLibrary(files.file(`libsodium.so.${i}`), size * mib)
  }
  const env = await fp.create({ from: `dir:${files.path}` })
  for (const i of sizes.keys()) {
    const command = [files.file('mapper'), files.file(`libsodium.so.${i}`)]
    const running = await env.spawn(command, { mode: 'process', stdin: 'streamed' })
    await running.stdout[Symbol.asyncIterator]().next()
  }
  const before = bytesRead()
  const taken = await env.snapshot()
  expect(bytesRead() - before).toBeLessThan(1000 * mib)
  const mapping = taken.lastInfo.memory?.processes.filter(({ command }) => command === 'mapper')
  expect(mapping).toHaveLength(sizes.length)
  expect(mapping?.every(({ shared }) => !shared)).toBe(true)
  expect(new Set(mapping?.map(({ why }) => why.replace(/.*: /, '')))).toContain(
    'too large to judge',
  )
})
