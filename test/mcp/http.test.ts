import { afterAll, describe, expect, test } from 'vitest'
import { whyNoCells } from '../e2e/docs/example-home.ts'
import { serveHome } from '../service/support/served-home.ts'
import { expectRow, installedVersion } from '../support/client-rows.ts'
import { unless } from '../support/evidence.ts'
import { TestClient } from './clients.ts'

describe('/mcp of a daemon', unless(whyNoCells), async () => {
  const home = await serveHome('mcp-http')
  afterAll(() => home[Symbol.asyncDispose]())
  const token = await home.token({ scope: 'branch', labels: { team: 'a' } })

  test('runs a search for a client with a token', async () => {
    await using mcp = await TestClient.http(`${home.url}/mcp?limit=4`, token)
    await mcp.call('create_environment', { name: 'main' })
    const seen: number[] = []
    const found = await mcp.call(
      'try_commands',
      {
        environment: 'main',
        commands: ['echo 1 > /tmp/score', 'echo 3 > /tmp/score', 'exit 1'],
        check: 'cat /tmp/score',
      },
      ({ progress }) => seen.push(progress),
    )
    expect(found).toMatchObject({ best: 1, kept: true })
    expect(seen.length).toBeGreaterThan(3)
    const kept = { environment: 'main', command: 'cat /tmp/score' }
    expect(await mcp.call('exec', kept)).toMatchObject({ stdout: '3\n' })
    const { labels } = await (await home.fp.get('main')).info()
    expect(labels).toEqual({ team: 'a' })
  })

  test('keeps to the scope and the labels of the token', async () => {
    await home.fp.create({ name: 'theirs' })
    const reader = await home.token({ scope: 'read', labels: { team: 'a' } })
    await using mcp = await TestClient.http(`${home.url}/mcp`, reader)
    expect(await mcp.call('list_environments')).toMatchObject({ total: 1 })
    await expect(mcp.call('snapshot', { environment: 'main' })).rejects.toThrow(/scope branch/)
    await expect(mcp.call('exec', { environment: 'main', command: 'id' })).rejects.toThrow(
      /scope exec/,
    )
    await expect(mcp.call('fork', { environment: 'theirs' })).rejects.toThrow(/not_found/)
    await expect(TestClient.http(`${home.url}/mcp`, 'fp_wrong')).rejects.toThrow()
  })

  test('belongs to whoever began it, and refuses what is not the protocol', async () => {
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'raw', version: '1' },
      },
    }
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const begun = await home.fetch('/mcp', { token, body: initialize, headers })
    expect(begun.status).toBe(200)
    await begun.text()
    const session = { ...headers, 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
    const statusOf = async (options: Parameters<typeof home.fetch>[1], path = '/mcp') => {
      const response = await home.fetch(path, options)
      await response.body?.cancel()
      return response.status
    }
    expect(await statusOf({ token, body: list, headers: session })).toBe(200)
    const other = await home.token({ scope: 'admin' })
    expect(await statusOf({ token: other, body: list, headers: session })).toBe(404)
    expect(await statusOf({ body: list, headers: session })).toBe(401)
    expect(await statusOf({ token, body: list, headers })).toBe(400)
    const wrong = '/mcp?allow=exce'
    expect(await statusOf({ token, body: initialize, headers }, wrong)).toBe(400)
    expect(await statusOf({ token, raw: 'x'.repeat(5 * 1024 ** 2), headers })).toBe(413)
    expect(await statusOf({ token, method: 'DELETE', headers: session })).toBe(200)
    expect(await statusOf({ token, body: list, headers: session })).toBe(404)
  })
})

describe('the tools of forkd, through a daemon', unless(whyNoCells), async () => {
  const home = await serveHome('mcp-forkd')
  afterAll(() => home[Symbol.asyncDispose]())

  test('spawn, evaluate, branch, and spawn again from the branch', async () => {
    const host = `unix://${home.path}/socket`
    await using mcp = await TestClient.stdio(['--host', host, '--tools', 'forkd'])
    const { tools } = await mcp.client.listTools()
    expect(tools.map(({ name }) => name).sort()).toEqual(
      'branch_sandbox create_snapshot eval_code exec_command get_sandbox kill_sandbox list_sandboxes list_snapshots ping_sandbox spawn_sandboxes wait_for_text'.split(
        ' ',
      ),
    )
    expect(await mcp.call('create_snapshot', { tag: 'base' })).toMatchObject({ bootable: true })
    type Spawned = { result: { id: string; snapshot_tag: string }[] }
    const { result } = await mcp.call<Spawned>('spawn_sandboxes', { snapshot_tag: 'base', n: 1 })
    expect(result).toMatchObject([{ snapshot_tag: 'base' }])
    const sandbox_id = result[0]?.id
    await mcp.call('eval_code', { sandbox_id, code: 'x = 20' })
    const branch = await mcp.call('branch_sandbox', { sandbox_id, tag: 'warm' })
    expect(branch).toMatchObject({ tag: 'warm', branched_from: sandbox_id, status: 'ready' })
    const warm = await mcp.call<Spawned>('spawn_sandboxes', { snapshot_tag: 'warm', n: 1 })
    const again = { sandbox_id: warm.result[0]?.id, code: 'print("hi"); x + 1' }
    expect(await mcp.call('eval_code', again)).toEqual({
      result: '21',
      error: null,
      exit_code: 0,
      stdout: 'hi\n',
    })
    const args = ['sh', '-c', 'echo $0 > /tmp/log; exit 4', 'READY']
    expect(await mcp.call('exec_command', { sandbox_id, args })).toMatchObject({ exit_code: 4 })
    const wait = { sandbox_id, path: '/tmp/log', marker: 'READY' }
    expect(await mcp.call('wait_for_text', wait)).toMatchObject({ found: true })
    expect(await mcp.call('ping_sandbox', { sandbox_id })).toMatchObject({ ok: true })
    expect(await mcp.call('get_sandbox', { sandbox_id })).toMatchObject({ branch_count: 1 })
    expect(await mcp.call('kill_sandbox', { sandbox_id })).toMatchObject({ killed: true })
    expect((await mcp.call<Spawned>('list_sandboxes')).result).toHaveLength(1)
  })
})

test('every tool that answered is on the page of clients', unless(whyNoCells), () => {
  const client = "@modelcontextprotocol/sdk, over HTTP, and forkd's tools"
  const version = installedVersion('@modelcontextprotocol/sdk')
  expectRow({ client, version, works: [...TestClient.worked].sort() })
})
