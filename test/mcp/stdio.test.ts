import { afterAll, describe, expect, test } from 'vitest'
import { forkpointTools } from '../../src/mcp/tools/all.ts'
import { whyNoCells } from '../e2e/docs/example-home.ts'
import { expectRow, installedVersion } from '../support/client-rows.ts'
import { unless } from '../support/evidence.ts'
import { TestHome } from '../support/test-home.ts'
import { TestClient } from './clients.ts'

describe('forkpoint mcp', unless(whyNoCells), async () => {
  const home = new TestHome('mcp')
  const mcp = await TestClient.stdio(['--home', home.path, '--host', 'embedded', '--limit', '5'])
  afterAll(async () => {
    await mcp[Symbol.asyncDispose]()
    await home[Symbol.asyncDispose]()
  })

  test('lists every tool with schemas, annotations and a description that teaches', async () => {
    const { tools } = await mcp.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(forkpointTools.map(({ name }) => name))
    for (const { name, description = '', outputSchema, annotations } of tools) {
      expect(description.length, name).toBeGreaterThan(40)
      expect(outputSchema?.type, name).toBe('object')
      expect(typeof annotations?.readOnlyHint, name).toBe('boolean')
    }
    const destructive = tools.filter(({ annotations }) => annotations?.destructiveHint)
    expect(destructive.map(({ name }) => name).sort()).toEqual([
      'promote',
      'remove',
      'restore',
      'try_commands',
    ])
    expect(mcp.client.getInstructions()).toContain('try_commands')
  })

  test('a search: reproduce, try fixes in forks, keep the best, rewind', async () => {
    const made = await mcp.call('create_environment', { name: 'main' })
    expect(made).toMatchObject({ name: 'main', status: 'running' })
    const environment = 'main'
    const write = { environment, path: '/app/sum.sh', content: 'echo $(($1 - $2))\n' }
    expect(await mcp.call('write_file', write)).toMatchObject({ sizeBytes: 18 })
    await mcp.call('exec', { environment, command: 'cd /app && export WHO=me' })
    expect(await mcp.call('exec', { environment, command: 'pwd; echo $WHO' })).toMatchObject({
      exitCode: 0,
      stdout: '/app\nme\n',
    })
    const broken = await mcp.call('snapshot', { environment, name: 'broken', message: 'fails' })
    expect(broken).toMatchObject({ name: 'broken', lost: [] })

    const seen: (string | undefined)[] = []
    const found = await mcp.call<{
      attempts: { passed: boolean; score: number | null; changed: string[] }[]
      best: number | null
    }>(
      'try_commands',
      {
        environment,
        commands: ['true', 'sed -i s/-/+/ sum.sh', 'echo "echo 5; echo slow" > sum.sh', 'exit 3'],
        check: '[ "$(bash sum.sh 2 3 | head -1)" = 5 ] && bash sum.sh 2 3 | wc -l | sed s/^/-/',
      },
      ({ message }) => seen.push(message),
    )
    expect(found.attempts.map(({ passed, score }) => [passed, score])).toEqual([
      [false, null],
      [true, -1],
      [true, -2],
      [false, null],
    ])
    expect(found).toMatchObject({ best: 1, kept: true, before: null })
    expect(found.attempts[1]?.changed).toContain('/app/sum.sh')
    expect(seen).toContain('kept the best')
    const fixed = { environment, command: 'bash sum.sh 2 3; echo $WHO' }
    expect(await mcp.call('exec', fixed)).toMatchObject({ stdout: '5\nme\n' })
    const { patch } = await mcp.call<{ patch: string }>('diff', {
      snapshot: 'broken',
      to: 'main',
      paths: ['/app'],
    })
    expect(patch).toContain('+echo $(($1 + $2))')
    // Only the environment itself is left.
    expect(await mcp.call('list_environments')).toMatchObject({ total: 1 })

    await mcp.call('restore', { environment, snapshot: 'broken' })
    const read = { environment, path: '/app/sum.sh' }
    expect(await mcp.call('read_file', read)).toMatchObject({ content: write.content, next: null })
  })

  test('forks work on by themselves, with programs and terminals, and one is promoted', async () => {
    const environment = 'main'
    const name = 'ticker'
    const command = 'i=0; while sleep 0.05; do i=$((i+1)); echo tick $i; done'
    await mcp.call('start_command', { environment, command, name })
    const typed = { environment, text: 'echo ty""ped', keys: ['enter'] }
    expect((await mcp.call<{ text: string }>('type_terminal', typed)).text).toContain('ty""ped')
    const answered = { environment, contains: 'typed', waitMs: 60_000 }
    expect(await mcp.call('read_screen', answered)).toMatchObject({ found: true })
    const { forks } = await mcp.call<{ forks: { environment: string }[] }>('fork', {
      environment,
      count: 2,
      name: 'try',
    })
    expect(forks).toHaveLength(2)
    const read = { environment: 'try-1', command: name }
    type Read = { running: boolean; stdout: string; next: { stdout: number } }
    const first = await mcp.call<Read>('read_command', read)
    expect(first.running).toBe(true)
    const on = { ...read, stdoutOffset: first.next.stdout }
    const later = async () => (await mcp.call<Read>('read_command', on)).stdout
    await expect.poll(later).toMatch(/^tick \d+\n/)
    // What was read before does not come again.
    expect(first.stdout).not.toContain((await later()).split('\n', 1)[0] ?? 'nothing')
    const screen = { environment: 'try-2', contains: 'typed', waitMs: 60_000 }
    expect(await mcp.call('read_screen', screen)).toMatchObject({ found: true })
    await mcp.call('stop_command', read)
    const isRunning = async () => (await mcp.call<Read>('read_command', on)).running
    await expect.poll(isRunning).toBe(false)
    const edit = { environment: 'try-1', path: '/app/sum.sh', old: '-', new: '*' }
    expect(await mcp.call('edit_file', edit)).toMatchObject({ replaced: 1 })
    const search = { environment: 'try-1', path: '/app', pattern: 'echo .*\\*', glob: '*.sh' }
    expect(await mcp.call('search_files', search)).toMatchObject({
      matches: [{ path: '/app/sum.sh', line: 1, text: 'echo $(($1 * $2))' }],
      truncated: false,
    })
    await mcp.call('promote', { environment, from: 'try-1' })
    const product = { environment, command: 'bash /app/sum.sh 2 3' }
    expect(await mcp.call('exec', product)).toMatchObject({ stdout: '6\n' })
  })

  test('cuts long output in the middle and reads the rest', async () => {
    const long = { environment: 'main', command: 'seq 1 20000', limitBytes: 2000 }
    const cut = await mcp.call<{ command: string; stdout: string; stdoutBytes: number }>(
      'exec',
      long,
    )
    expect(cut).toMatchObject({ truncated: true, stdoutBytes: 108_894 })
    expect(cut.stdout.length).toBeLessThan(2300)
    expect(cut.stdout).toMatch(/^1\n2\n[\s\S]*stdoutOffset 1000 [\s\S]*19999\n20000\n$/)
    const rest = { environment: 'main', command: cut.command, limitBytes: 200_000 }
    const { stdout } = await mcp.call<{ stdout: string }>('read_command', rest)
    expect(stdout).toBe(`${Array.from({ length: 20_000 }, (_, index) => index + 1).join('\n')}\n`)
  })

  test('shows the tree, environments and files as resources, and has prompts', async () => {
    const { client } = mcp
    const shown = await client.readResource({ uri: 'forkpoint://tree' })
    expect(JSON.stringify(shown)).toContain('broken')
    expect(await mcp.call<{ text: string }>('tree', { environment: 'main' })).toMatchObject({
      text: expect.stringContaining('(try-2) running'),
    })
    const { resources } = await client.listResources()
    expect(resources.map(({ name }) => name)).toContain('try-1')
    const uri = 'forkpoint://environments/main/files/app/sum.sh'
    const { contents } = await client.readResource({ uri })
    expect(contents).toMatchObject([{ uri, text: 'echo $(($1 * $2))\n' }])
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(['explore_fixes', 'rewind'])
    const { messages } = await client.getPrompt({
      name: 'explore_fixes',
      arguments: { environment: 'main', problem: 'it is slow', check: 'make test' },
    })
    expect(JSON.stringify(messages)).toContain('make test')
  })

  test('refuses what is too much, unknown or misspelled, and says what to do', async () => {
    const more = mcp.call('fork', { environment: 'main', count: 3 })
    await expect(more).rejects.toThrow(/3 environments .* exceed 5; remove some/)
    await expect(mcp.call('exec', { environment: 'nope', command: 'true' })).rejects.toThrow(
      /not_found: .*nope/,
    )
    await expect(mcp.call('exec', { env: 'main', command: 'true' })).rejects.toThrow(/environment/)
    const wrong = { environment: 'main', path: '/app/sum.sh', old: 'absent', new: '' }
    await expect(mcp.call('edit_file', wrong)).rejects.toThrow(/does not contain the text/)
    expect(await mcp.call('remove', { environment: 'try-2' })).toMatchObject({
      removed: [expect.stringMatching(/^e/)],
    })
  })
})

describe('forkpoint mcp with limits', unless(whyNoCells), async () => {
  const home = new TestHome('mcp-limits')
  afterAll(() => home[Symbol.asyncDispose]())

  test('reaches only what carries its labels, and removes only what it made', async () => {
    const fp = await home.openEmbedded()
    const ours = await fp.create({ name: 'ours', labels: { team: 'a' } })
    const other = await fp.create({ name: 'theirs', labels: { team: 'b' } })
    await other.snapshot({ name: 'their-snapshot' })
    const place = ['--home', home.path, '--host', 'embedded', '--label', 'team=a']
    const tools = 'create_environment,list_environments,restore,snapshot,tree,remove,fork,exec'
    await using mcp = await TestClient.stdio([...place, '--allow', tools])
    const names = (await mcp.client.listTools()).tools.map(({ name }) => name)
    expect(names.sort()).toEqual(tools.split(',').sort())
    await expect(mcp.call('read_file', { environment: 'ours', path: '/x' })).rejects.toThrow()
    expect(await mcp.call('list_environments')).toMatchObject({
      environments: [{ name: 'ours', own: false }],
    })
    const theirs = { environment: 'theirs', command: 'true' }
    await expect(mcp.call('exec', theirs)).rejects.toThrow(/not_found/)
    const copied = mcp.call('create_environment', { from: 'snapshot:their-snapshot' })
    await expect(copied).rejects.toThrow(/not_found/)
    await expect(mcp.call('remove', { environment: 'ours' })).rejects.toThrow(/did not make/)

    const clean = await ours.snapshot({ name: 'clean' })
    await ours.exec('echo precious > /tmp/precious')
    const rewound = await mcp.call<{ before: string }>('restore', {
      environment: 'ours',
      snapshot: 'clean',
    })
    expect((await ours.exec('cat /tmp/precious')).exitCode).toBe(1)
    await ours.restore(rewound.before)
    expect((await ours.exec('cat /tmp/precious')).stdout).toBe('precious\n')
    const forked = await mcp.call<{ forks: { environment: string; labels: object }[] }>('fork', {
      snapshot: clean.id,
    })
    expect(forked.forks).toMatchObject([{ labels: { team: 'a' } }])
    const own = { environment: forked.forks[0]?.environment }
    expect(await mcp.call('remove', own)).toMatchObject({ removed: [own.environment] })
    expect((await mcp.call<{ text: string }>('tree')).text).not.toContain('theirs')
  })
})

test('every tool that answered is on the page of clients', unless(whyNoCells), () => {
  const client = '@modelcontextprotocol/sdk, over stdio'
  const version = installedVersion('@modelcontextprotocol/sdk')
  expectRow({ client, version, works: [...TestClient.worked].sort() })
})
