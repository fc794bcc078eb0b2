import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { httpControl } from '../../../src/client/http-control.ts'

test('an answer that was cut in the middle is asked for again', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'forkpoint-cut-'))
  const path = join(directory, 'daemon.sock')
  let asked = 0
  const server = createServer((_request, response) => {
    asked += 1
    response.setHeader('content-type', 'application/json')
    response.setHeader('content-length', '2')
    if (asked === 2) response.write('[', () => response.destroy())
    else response.end('[]')
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  try {
    await using control = await httpControl({ kind: 'unix', path })
    await control.call('environment.list', {})
    expect(await control.call('environment.list', {})).toEqual([])
    expect(asked).toBe(3)
  } finally {
    server.close()
    rmSync(directory, { recursive: true })
  }
})
