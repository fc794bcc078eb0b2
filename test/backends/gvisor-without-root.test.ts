import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { makeSources } from '../conformance/sources.ts'
import { nobody, runAsNobody } from '../support/as-nobody.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'

const program = fileURLToPath(new URL('programs/branch-as-user.ts', import.meta.url))

describe('gvisor of a user who is not root', () => {
  test.each([
    ["the host's files", 'host', ''],
    ['a workspace', 'dir', 'given'],
    ['a root file system', 'rootfs', ''],
  ] as const)('environments from %s are branched', async (_title, kind, given) => {
    using open = new TemporaryDirectory()
    const { workspace, rootfs } = makeSources(open)
    const from = { host: 'host', dir: `dir:${workspace}`, rootfs: `rootfs:${rootfs}` }[kind]
    const printed = await runAsNobody(open, program, (home) => [home, from])
    expect(JSON.parse(printed)).toEqual({
      uid: nobody,
      fork: 'memory file',
      restored: 'memory file',
      home: '',
      given,
      left: 0,
    })
  })
})
