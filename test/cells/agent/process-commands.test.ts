import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  attachCommand,
  forgetCommand,
  listCommands,
  startCommand,
  toReadable,
} from '../../../src/agent/commands/commands.ts'
import { execCommand } from '../../../src/agent/commands/exec.ts'
import type { AgentConnection } from '../../../src/agent/wire/connection.ts'
import { NotFoundError, ResourceError } from '../../../src/model/errors.ts'
import { unless } from '../../support/evidence.ts'
import { TestAgent, whyNoAgent } from './run-agent.ts'

async function allOf(output: AsyncIterable<Buffer>): Promise<string> {
  let text = ''
  for await (const chunk of output) text += chunk
  return text
}

describe('a command as a fresh process', unless(whyNoAgent), () => {
  let agent: TestAgent
  let connection: AgentConnection

  beforeAll(async () => {
    agent = await TestAgent.start()
    connection = await agent.connect()
  })
  afterAll(() => agent?.[Symbol.asyncDispose]())

  test('runs in its own directory, environment and user', async () => {
    mkdirSync(agent.path('place'))
    const spec = {
      mode: 'process',
      command: 'pwd; echo $COLOUR; id -un; id -gn',
      cwd: '/usr',
      env: { COLOUR: 'green' },
      user: 'nobody:daemon',
    } as const
    const { stdout, exitCode } = await execCommand(connection, spec)
    expect(String(stdout)).toBe('/usr\ngreen\nnobody\ndaemon\n')
    expect(exitCode).toBe(0)
  })

  test('gets its arguments exactly, without a shell in between', async () => {
    const words = ['printf', '%s|', '$HOME', 'a  b', '', '*']
    const { stdout } = await execCommand(connection, { mode: 'process', command: words })
    expect(String(stdout)).toBe('$HOME|a  b||*|')
  })

  test('that does not exist fails as it would in a shell', async () => {
    const spec = { mode: 'process', command: ['no-such-program'] } as const
    const outcome = await execCommand(connection, spec).catch((error: unknown) => error)
    if (outcome instanceof Error) expect(outcome).toBeInstanceOf(NotFoundError)
    else expect(outcome).toMatchObject({ exitCode: 127 })
  })

  test('reports which signal ended it', async () => {
    const command = startCommand(connection, { mode: 'process', command: ['sleep', '1000'] })
    expect(await command.pid).toBeGreaterThan(1)
    await command.signal('SIGUSR1')
    expect(await command.wait()).toMatchObject({ exitCode: null, signal: 'SIGUSR1' })
  })

  test('that takes too long is ended with its children', async () => {
    const spec = { mode: 'process', command: 'sleep 1001 & sleep 1002', timeoutMs: 200 } as const
    const result = await execCommand(connection, spec)
    expect(result).toMatchObject({ timedOut: true, signal: 'SIGTERM' })
    const left = await execCommand(connection, {
      mode: 'process',
      command: 'pgrep -f "sleep 100[12]" | wc -l',
    })
    expect(Number(String(left.stdout))).toBeLessThanOrEqual(1)
  })

  test('accepts input while it runs', async () => {
    const command = startCommand(connection, {
      mode: 'process',
      command: 'while read line; do echo "<$line>"; done',
      stdin: 'streamed',
    })
    await command.writeStdin('one\n')
    expect(String(await command.stdout.read())).toBe('<one>\n')
    await command.writeStdin('two\n')
    expect(String(await command.stdout.read())).toBe('<two>\n')
    await command.endStdin()
    expect(await command.wait()).toMatchObject({ exitCode: 0 })
  })

  test('may end without reading all of its input', async () => {
    const spec = {
      mode: 'process',
      command: 'head -c 3',
      stdin: Buffer.alloc(5_000_000, 'y'),
    } as const
    const result = await execCommand(connection, spec)
    expect(result).toMatchObject({ exitCode: 0 })
    expect(String(result.stdout)).toBe('yyy')
  })

  test('takes input of any length from a stream', async () => {
    async function* input() {
      for (let i = 0; i < 100; i += 1) yield Buffer.alloc(100_000, 'z')
    }
    const spec = { mode: 'process', command: 'wc -c', stdin: input() } as const
    expect(String((await execCommand(connection, spec)).stdout).trim()).toBe('10000000')
  })

  test('runs at the same time as others and a shell', async () => {
    const inShell = execCommand(connection, { mode: 'shell', command: 'sleep 0.5; echo shell' })
    const many = Array.from({ length: 40 }, (_, i) =>
      execCommand(connection, { mode: 'process', command: `sleep 0.2; echo ${i}; exit ${i}` }),
    )
    const results = await Promise.all(many)
    expect(results.map((r) => r.exitCode)).toEqual(Array.from({ length: 40 }, (_, i) => i))
    expect(results.map((r) => Number(String(r.stdout)))).toEqual(results.map((r) => r.exitCode))
    expect(String((await inShell).stdout)).toBe('shell\n')
  })

  test('that writes 200 MB is received completely, in bounded memory', async () => {
    let bytes = 0
    let peak = 0
    const before = process.memoryUsage().rss
    const onStdout = (chunk: Buffer) => {
      bytes += chunk.length
      peak = Math.max(peak, process.memoryUsage().rss - before)
    }
    const spec = { mode: 'process', command: 'head -c 200000000 /dev/zero' } as const
    const result = await execCommand(connection, spec, { onStdout })
    expect(bytes).toBe(200_000_000)
    expect(result.stdout).toHaveLength(0)
    expect(peak).toBeLessThan(120_000_000)
  })

  test('waits for a slow reader instead of filling memory', async () => {
    const command = startCommand(connection, {
      mode: 'process',
      command: 'head -c 50000000 /dev/zero; echo end >&2',
    })
    await sleep(300)
    expect(await Promise.race([command.wait(), sleep(200, 'still running')])).toBe('still running')
    let bytes = 0
    for await (const chunk of toReadable(command.stdout)) bytes += (chunk as Buffer).length
    expect(bytes).toBe(50_000_000)
    expect(await command.wait()).toMatchObject({ exitCode: 0 })
  })

  test('does not delay others while its reader is slow', async () => {
    const stalled = startCommand(connection, { mode: 'process', command: ['yes'] })
    await sleep(200)
    const quick = await execCommand(connection, { mode: 'process', command: 'echo quick' })
    expect(String(quick.stdout)).toBe('quick\n')
    stalled.stdout.discard()
    await stalled.signal('SIGKILL')
    expect(await stalled.wait()).toMatchObject({ signal: 'SIGKILL' })
  })

  test('that writes more than can be kept is ended, with a remedy', async () => {
    const spec = { mode: 'process', command: ['yes'] } as const
    const failure = await execCommand(connection, spec, { maxBytes: 1_000_000 }).catch((e) => e)
    expect(failure).toBeInstanceOf(ResourceError)
    expect(failure.remedy).toContain('onStdout')
    expect((await listCommands(connection)).filter((c) => c.running)).toEqual([])
  })

  test('is found again by its id, until it is forgotten', async () => {
    const spec = { id: 'my-job', mode: 'process', command: 'echo result; exit 5' } as const
    const command = startCommand(connection, spec)
    command.stdout.discard()
    await command.wait()
    const listed = (await listCommands(connection)).find(({ id }) => id === 'my-job')
    expect(listed).toMatchObject({ mode: 'process', running: false, exit: { exitCode: 5 } })
    const again = await attachCommand(connection, 'my-job')
    expect(String(await again.stdout.read())).toBe('result\n')
    expect(await again.wait()).toMatchObject({ exitCode: 5 })
    await forgetCommand(connection, 'my-job')
    await expect(attachCommand(connection, 'my-job')).rejects.toThrow(NotFoundError)
  })

  test('can be read once more when it was the last, and is gone after the next', async () => {
    const ran = 'seq 1 100000; echo failed >&2; exit 3'
    const run = { mode: 'process', command: ran } as const
    await execCommand(connection, { ...run, id: 'last-1' }, { isRemembered: true })
    expect((await listCommands(connection)).map(({ id }) => id)).not.toContain('last-1')
    const last = (await listCommands(connection, { last: true })).at(-1)
    expect(last).toMatchObject({ id: 'last-1', command: ran, exit: { exitCode: 3 } })
    // Nobody can hold it, so that its id is free.
    await expect(attachCommand(connection, 'last-1')).rejects.toThrow(NotFoundError)
    const reader = await attachCommand(connection, 'last-1', undefined, { readAlong: true })
    const [stdout, stderr] = await Promise.all([allOf(reader.stdout), allOf(reader.stderr)])
    expect(stdout.length).toBe(65_536)
    expect(stdout.endsWith('\n99999\n100000\n')).toBe(true)
    expect(stderr).toBe('failed\n')

    await execCommand(connection, { ...run, id: 'inner' })
    expect((await listCommands(connection, { last: true })).at(-1)?.id).toBe('last-1')
    await execCommand(connection, { ...run, id: 'last-1' }, { isRemembered: true })
    await execCommand(connection, { ...run, id: 'last-2' }, { isRemembered: true })
    const ids = (await listCommands(connection, { last: true })).map(({ id }) => id)
    expect(ids.filter((id) => id.startsWith('last'))).toEqual(['last-2'])
  })

  test('is not started twice when its start is repeated', async () => {
    const spec = { id: 'once', mode: 'process', command: 'echo ran; sleep 0.3' } as const
    const first = startCommand(connection, spec)
    await first.pid
    const second = startCommand(connection, spec)
    await expect(first.wait()).rejects.toThrow(/ECONNABORTED/)
    expect(String(await second.stdout.read())).toBe('ran\n')
    expect(await second.wait()).toMatchObject({ exitCode: 0 })
  })
})

describe('a command whose connection breaks', unless(whyNoAgent), () => {
  const script = 'i=0; while [ $i -lt 60000 ]; do echo "line $i of the output"; i=$((i+1)); done'
  const expected = Array.from({ length: 60_000 }, (_, i) => `line ${i} of the output\n`).join('')

  test('continues exactly where its reader was', async () => {
    await using agent = await TestAgent.start()
    const first = await agent.connect()
    const started = startCommand(first, { id: 'long', mode: 'process', command: script })
    let text = ''
    for await (const chunk of started.stdout) {
      text += chunk
      if (text.length > 400_000) break
    }
    first.destroy(new Error('cut'))
    const second = await agent.connect()
    const resumed = await attachCommand(second, 'long', started.offsets)
    expect(resumed.offsets.stdout).toBe(text.length)
    for await (const chunk of resumed.stdout) text += chunk
    expect(text === expected).toBe(true)
    expect(await resumed.wait()).toMatchObject({ exitCode: 0 })
  })

  test('is followed over new connections if the caller can make them', async () => {
    await using agent = await TestAgent.start()
    let connection = await agent.connect()
    let reconnects = 0
    const reconnect = async () => {
      reconnects += 1
      connection = await agent.connect()
      return connection
    }
    let received = 0
    const onStdout = (chunk: Buffer) => {
      const before = received
      received += chunk.length
      if (Math.floor(before / 300_000) < Math.floor(received / 300_000)) void connection.close()
    }
    const spec = { mode: 'process', command: script } as const
    const options = { reconnect, onStdout, collect: 'all' } as const
    const result = await execCommand(connection, spec, options)
    expect(String(result.stdout) === expected).toBe(true)
    expect(reconnects).toBeGreaterThan(2)
  })

  test('that waits for its turn in a shell still runs only once', async () => {
    await using agent = await TestAgent.start()
    const first = await agent.connect()
    const busy = startCommand(first, { mode: 'shell', command: 'sleep 1; count=0' })
    const waiting = startCommand(first, {
      id: 'next',
      mode: 'shell',
      command: 'echo turn $((++count))',
    })
    await sleep(200)
    busy.detach()
    waiting.detach()
    await first.close()
    const second = await agent.connect()
    const resumed = await attachCommand(second, 'next')
    expect(String(await resumed.stdout.read())).toBe('turn 1\n')
    expect(await resumed.wait()).toMatchObject({ exitCode: 0 })
  })
})
