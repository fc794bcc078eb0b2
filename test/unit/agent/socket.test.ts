import { renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openAgentSocket, readSocketIdentity } from '../../../src/agent/wire/socket.ts'
import { BackendError } from '../../../src/model/errors.ts'
import { FakeAgent } from './fake-agent.ts'

describe("the agent's socket", () => {
  test('is used if it is the one that was recorded', async () => {
    await using agent = await FakeAgent.start(() => {})
    const identity = await readSocketIdentity(agent.path)
    const socket = await openAgentSocket(agent.path, identity)
    expect(socket.readyState).toBe('open')
    socket.destroy()
  })

  test('replaced by a symlink to the real one is refused', async () => {
    await using agent = await FakeAgent.start(() => {})
    const identity = await readSocketIdentity(agent.path)
    renameSync(agent.path, join(agent.directory, 'elsewhere'))
    symlinkSync('elsewhere', agent.path)
    await expect(openAgentSocket(agent.path, identity)).rejects.toThrow(/symlink/)
    await expect(openAgentSocket(agent.path, null)).rejects.toThrow(/symlink/)
  })

  test('replaced by a file is refused', async () => {
    await using agent = await FakeAgent.start(() => {})
    unlinkSync(agent.path)
    writeFileSync(agent.path, '')
    await expect(openAgentSocket(agent.path, null)).rejects.toThrow(/not a socket/)
  })

  test("replaced by another process's socket is refused, with a remedy", async () => {
    await using agent = await FakeAgent.start(() => {})
    const identity = await readSocketIdentity(agent.path)
    unlinkSync(agent.path)
    const planted = createServer()
    await new Promise<void>((resolve) => planted.listen(agent.path, resolve))
    const failure = await openAgentSocket(agent.path, identity).catch((error: unknown) => error)
    planted.close()
    expect(failure).toBeInstanceOf(BackendError)
    expect(failure).toMatchObject({
      message: expect.stringMatching(/not the socket that the agent bound/),
      remedy: expect.stringContaining('restore'),
    })
  })

  test('that does not exist is reported as unreachable', async () => {
    await expect(openAgentSocket('/nonexistent/agent.sock', null)).rejects.toThrow(/cannot reach/)
  })
})
