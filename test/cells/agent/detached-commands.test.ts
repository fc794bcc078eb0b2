import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DetachedCommandSpec } from '../../../src/agent/commands/command-spec.ts'
import {
  attachCommand,
  type CommandHandle,
  type CommandInfo,
  listCommands,
  signalCommand,
  startCommand,
} from '../../../src/agent/commands/commands.ts'
import { execCommand } from '../../../src/agent/commands/exec.ts'
import { listProcesses } from '../../../src/agent/processes.ts'
import type { AgentConnection } from '../../../src/agent/wire/connection.ts'
import { unless } from '../../support/evidence.ts'
import { TestAgent, whyNoAgent } from './run-agent.ts'

describe('a detached command', unless(whyNoAgent), () => {
  let agent: TestAgent
  let connection: AgentConnection

  beforeAll(async () => {
    agent = await TestAgent.start()
    connection = await agent.connect()
  })
  afterAll(() => agent?.[Symbol.asyncDispose]())

  const inShell = async (command: string) =>
    String((await execCommand(connection, { mode: 'shell', command })).stdout)

  const detached = async (command: string, spec: Partial<DetachedCommandSpec> = {}) => {
    const result = await execCommand(connection, {
      ...spec,
      stdin: undefined,
      mode: 'detached',
      command,
    })
    return { ...result, stdout: String(result.stdout), stderr: String(result.stderr) }
  }

  const info = async (id: string): Promise<CommandInfo | undefined> =>
    (await listCommands(connection)).find((each) => each.id === id)

  test('has the directory, variables, functions and options of the shell, and changes none of them', async () => {
    await inShell(
      'cd /usr/share; word=plain; list=(a b); f() { echo "f $1 $word"; }; shopt -s extglob',
    )
    const line = 'pwd; echo ${list[1]}; f x; shopt extglob; cd /; word=changed; f() { :; }; exit 3'
    expect(await detached(line)).toMatchObject({
      stdout: '/usr/share\nb\nf x plain\nextglob        \ton\n',
      stderr: '',
      exitCode: 3,
      shellGone: false,
    })
    expect(await inShell('pwd; f y')).toBe('/usr/share\nf y plain\n')
  })

  test('gets its own directory and variables, its own arguments and no trace of the agent', async () => {
    await inShell('set -x; set -- one two')
    const options = { cwd: '/tmp', env: { ONCE: "it's" } }
    const ran = await detached('pwd; env | grep ONCE; echo "$#"', options)
    expect(ran).toMatchObject({ stdout: "/tmp\nONCE=it's\n2\n", exitCode: 0 })
    expect(ran.stderr).not.toContain('__fp')
    await inShell('set +x; set --')
    expect(await inShell('pwd; echo "${ONCE-none}"')).toBe('/usr/share\nnone\n')
    await expect(detached('true', { cwd: '/nowhere' })).rejects.toThrow('/nowhere')
  })

  test('holds up nobody, and leaves the jobs of the shell alone', async () => {
    await inShell('sleep 1000 &')
    const handle = startCommand(connection, { mode: 'detached', command: 'echo on; sleep 1000' })
    const pid = await handle.pid
    expect(await inShell('jobs; echo "$!"')).not.toContain(String(pid))
    expect(await inShell('jobs %1 | wc -l; kill %1')).toBe('1\n')
    expect(await info(handle.id)).toMatchObject({ mode: 'detached', running: true, pid })
    expect((await listProcesses(connection)).find((each) => each.pid === pid)).toMatchObject({
      state: 'S',
    })
    await handle.signal('SIGTERM')
    handle.stdout.discard()
    expect(await handle.wait()).toMatchObject({ signal: 'SIGTERM', exitCode: null })
    expect(await inShell('echo fine')).toBe('fine\n')
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    'is ended by %s, with its children',
    async (signal) => {
      const handle = startCommand(connection, { mode: 'detached', command: 'sleep 1000; echo not' })
      const pid = await handle.pid
      await childOf(pid)
      await signalCommand(connection, handle.id, signal)
      expect(await handle.wait()).toMatchObject({ signal })
      expect((await listProcesses(connection)).filter(({ parent }) => parent === pid)).toEqual([])
    },
  )

  test('ends after its timeout', async () => {
    expect(await detached('sleep 1000', { timeoutMs: 100 })).toMatchObject({ timedOut: true })
  })

  test('reads its stdin', async () => {
    const spec = { mode: 'detached', command: 'sort', stdin: 'b\na\n' } as const
    expect(String((await execCommand(connection, spec)).stdout)).toBe('a\nb\n')
  })

  test('does not stop when nobody reads what it prints, and keeps the end of it', async () => {
    const line = 'seq 1 1000000; echo the end'
    const handle = startCommand(connection, { mode: 'detached', command: line })
    await handle.pid
    handle.detach()
    await until(async () => (await info(handle.id))?.running === false)
    const again = await attachCommand(connection, handle.id)
    expect(again.offsets.stdout).toBeGreaterThan(5_000_000)
    expect(await text(again)).toMatch(/1000000\nthe end\n$/)
    expect(await again.wait()).toMatchObject({ exitCode: 0 })
  })

  test('is read along without taking it from whoever follows it', async () => {
    const line = 'echo one; read -r _; echo two'
    const handle = startCommand(connection, { mode: 'detached', command: line, stdin: 'streamed' })
    await handle.pid
    await until(async () => (await info(handle.id))?.printed?.stdout === 4)
    const along = await attachCommand(connection, handle.id, undefined, { readAlong: true })
    expect(String(await along.stdout.read())).toBe('one\n')
    await handle.writeStdin('go\n')
    expect(await text(handle)).toBe('one\ntwo\n')
    expect(String(await along.stdout.read())).toBe('two\n')
    expect(await along.wait()).toMatchObject({ exitCode: 0 })
  })

  test('is killed after its grace if it ignores a signal', async () => {
    const line = "trap '' INT; echo ready; while :; do sleep 1; done"
    const handle = startCommand(connection, { mode: 'detached', command: line })
    await handle.stdout.read()
    await handle.signal('SIGINT', { graceMs: 100 })
    expect(await handle.wait()).toMatchObject({ signal: 'SIGKILL', timedOut: false })
  })

  test('waits for the shell if it is busy, and says for what', async () => {
    const first = startCommand(connection, {
      mode: 'shell',
      command: 'read -r late',
      stdin: 'streamed',
    })
    await first.pid
    const waits = Promise.withResolvers<CommandInfo>()
    const second = execCommand(
      connection,
      { mode: 'detached', command: 'echo "$late"' },
      { onWait: waits.resolve },
    )
    expect(await waits.promise).toMatchObject({ id: first.id, command: 'read -r late' })
    await first.writeStdin('state\n')
    expect(String((await second).stdout)).toBe('state\n')
  })

  test('that waits is ended without having run', async () => {
    const first = startCommand(connection, { mode: 'shell', command: 'read -r', stdin: 'streamed' })
    await first.pid
    const second = startCommand(connection, { mode: 'detached', command: 'echo ran' })
    await signalCommand(connection, second.id, 'SIGTERM')
    expect(await second.wait()).toMatchObject({ signal: 'SIGTERM' })
    await first.endStdin()
    await first.wait()
    expect(await inShell('echo fine')).toBe('fine\n')
  })

  const childOf = (pid: number) =>
    until(async () => (await listProcesses(connection)).some(({ parent }) => parent === pid))
})

async function text(handle: CommandHandle): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of handle.stdout) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20)
}
