import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { attachCommand, startCommand } from '../../../src/agent/commands/commands.ts'
import { execCommand } from '../../../src/agent/commands/exec.ts'
import { configure, quiesce, readAgentInfo, setIdentity } from '../../../src/agent/environment.ts'
import { openAgentSocket, readSocketIdentity } from '../../../src/agent/wire/socket.ts'
import { unless } from '../../support/evidence.ts'
import { TestAgent, whyNoAgent } from './run-agent.ts'

describe('the agent', unless(whyNoAgent), () => {
  test('reports its status and answers pings', async () => {
    await using agent = await TestAgent.start()
    const connection = await agent.connect()
    const began = performance.now()
    const roundTrip = await connection.ping()
    expect(roundTrip).toBeGreaterThan(0)
    expect(roundTrip).toBeLessThanOrEqual(performance.now() - began)
    const info = await readAgentInfo(connection)
    expect(info).toMatchObject({ version: 1, runningCommands: 0, connections: 1 })
    expect(info.rssBytes).toBeGreaterThan(0)
  })

  test('gives commands the environment and directory it was configured with', async () => {
    await using agent = await TestAgent.start()
    const connection = await agent.connect()
    await configure(connection, { env: { BASE: 'set', PATH: '/usr/bin:/bin' }, cwd: '/usr' })
    for (const mode of ['process', 'shell'] as const) {
      const { stdout } = await execCommand(connection, { mode, command: 'echo $BASE $PWD' })
      expect(String(stdout)).toBe('set /usr\n')
    }
  })

  test('adopts the identity it is given', async () => {
    await using agent = await TestAgent.start()
    const connection = await agent.connect()
    const machineId = '0123456789abcdef0123456789abcdef'
    await setIdentity(connection, { hostname: 'branch-7', machineId })
    const command = 'cat /etc/hostname /etc/machine-id; getent hosts branch-7'
    const { stdout } = await execCommand(connection, { mode: 'shell', command })
    const [hostname, machine, resolved] = String(stdout).split('\n')
    expect([hostname, machine]).toEqual(['branch-7', machineId])
    expect(resolved).toContain('branch-7')
  })

  test('closes every connection on request; what runs continues and is found again', async () => {
    await using agent = await TestAgent.start()
    const bystander = await agent.connect()
    const running = startCommand(bystander, {
      id: 'on',
      mode: 'process',
      command: 'sleep 0.5; echo on',
    })
    await running.pid
    const connection = await agent.connect()
    await quiesce(connection)
    await expect(running.wait()).rejects.toThrow('connection to the agent was lost')
    expect(await bystander.closed).toBeNull()
    const after = await agent.connect()
    expect((await readAgentInfo(after)).connections).toBe(1)
    const again = await attachCommand(after, 'on')
    expect(String(await again.stdout.read())).toBe('on\n')
  })

  test('is reached only through the socket it bound', async () => {
    await using agent = await TestAgent.start()
    const identity = await readSocketIdentity(agent.socketPath)
    const socket = await openAgentSocket(agent.socketPath, identity)
    socket.destroy()
    const other = { ...identity, ino: identity.ino + 1n }
    await expect(openAgentSocket(agent.socketPath, other)).rejects.toThrow(/refusing/)
  })

  test('does not keep a program alive that has no more requests', async () => {
    await using agent = await TestAgent.start()
    const root = join(import.meta.dirname, '../../../src/agent')
    const program = `
      const { openAgentSocket } = await import('${root}/wire/socket.ts')
      const { openConnection } = await import('${root}/wire/connect.ts')
      const { execCommand } = await import('${root}/commands/exec.ts')
      const connection = await openConnection(await openAgentSocket('${agent.socketPath}', null))
      const result = await execCommand(connection, { mode: 'shell', command: 'sleep 0.2; echo done' })
      process.stdout.write(result.stdout)
    `
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    for await (const chunk of child.stdout) output += chunk
    expect(output).toBe('done\n')
  })
})
