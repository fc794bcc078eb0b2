import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { Forkpoint } from '../../src/index.ts'
import { startDaemon } from '../../src/serve.ts'
import { expectRow } from '../support/client-rows.ts'
import { TestHome } from '../support/test-home.ts'
import { readPage } from '../unit/docs/markdown.ts'

const home = new TestHome('forkd')
const served = await startDaemon({
  open: { settings: { home: home.path, log: 'error' } },
  socket: join(home.path, 'socket'),
  forkd: { host: '127.0.0.1', port: 0 },
  onStop: () => {},
})
const [socket = '', url = ''] = served.addresses
const fp = await Forkpoint.connect(socket)
const { token } = await fp.tokens.create({ scope: 'branch' })
afterAll(async () => {
  await fp.close()
  await served[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

/** The routes that were called, as docs/forkd.md writes them. */
const called = new Set<string>()

/** A request to a route, whose `:fields` are filled in order; `body` is sent as JSON. */
async function call(route: string, fields: readonly string[] = [], body?: unknown, shown = token) {
  called.add(route)
  const [method = '', template = ''] = route.split(' ')
  const left = [...fields]
  const path = template.replaceAll(/:\w+/g, () => encodeURIComponent(left.shift() ?? ''))
  const response = await fetch(`${url}${path}${left.join('')}`, {
    method,
    headers: { authorization: `Bearer ${shown}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, json: isJson ? JSON.parse(text) : text }
}

const evaluated = async (id: string, code: string) =>
  (await call('POST /v1/sandboxes/:id/eval', [id], { code })).json

describe('the routes of forkd', () => {
  let first = ''
  let children: string[] = []

  test('health needs no token, everything else does', async () => {
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ ok: true })
    called.add('GET /healthz')
    const none = await fetch(`${url}/version`)
    expect(none.status).toBe(401)
    expect(await none.json()).toEqual({ error: expect.stringContaining('token') })
    expect((await call('GET /version', [], undefined, 'wrong')).status).toBe(401)
    const { token: weak } = await fp.tokens.create({ scope: 'read' })
    const spawn = { snapshot_tag: 'none' }
    expect((await call('POST /v1/sandboxes', [], spawn, weak)).status).toBe(403)
    expect((await call('GET /version')).json).toMatchObject({ version: '0.5.0', api: 'v1' })
  })

  test('a snapshot is made from files, and sandboxes from it', async () => {
    const wanted = { tag: 'base', kernel: '/vmlinux', rootfs: 'host', rw: true, boot_wait_secs: 10 }
    const more = { memory_limit_mib: 512, warmup: 'echo warm > /root/warm' }
    const made = await call('POST /v1/snapshots', [], { ...wanted, ...more })
    expect(made.status).toBe(201)
    expect(made.json).toEqual({
      tag: 'base',
      dir: '',
      created_at_unix: expect.any(Number),
      status: 'ready',
      bootable: true,
    })
    expect(Math.abs(made.json.created_at_unix - Date.now() / 1000)).toBeLessThan(60)
    expect((await call('POST /v1/snapshots', [], wanted)).status).toBe(409)
    expect((await call('GET /v1/snapshots')).json).toEqual([made.json])
    const spawn = { snapshot_tag: 'base', n: 2, per_child_netns: true, memory_limit_mib: 512 }
    const spawned = await call('POST /v1/sandboxes', [], {
      ...spawn,
      prewarm: false,
      live_fork: true,
    })
    expect(spawned.status).toBe(201)
    expect(spawned.json).toHaveLength(2)
    expect(spawned.json[0]).toEqual({
      id: expect.stringMatching(/^e/),
      snapshot_tag: 'base',
      netns: null,
      guest_addr: '',
      pid: null,
      created_at_unix: expect.any(Number),
      memory_limit_mib: 512,
      has_branched: false,
      branch_count: 0,
    })
    children = spawned.json.map(({ id }: { id: string }) => id)
    first = children[0] ?? ''
    const { json: listed } = await call('GET /v1/sandboxes')
    expect(listed).toHaveLength(2)
    expect(listed).toEqual(expect.arrayContaining(spawned.json))
    expect((await call('GET /v1/sandboxes/:id', [first])).json).toEqual(spawned.json[0])
    expect((await call('GET /metrics')).json).toContain('forkd_sandboxes_active 2')
    // A limit that it would not have is refused, and nothing is left of it.
    expect((await call('POST /v1/sandboxes', [], { ...spawn, memory_limit_mib: 256 })).status).toBe(
      400,
    )
    expect((await call('GET /v1/sandboxes')).json).toHaveLength(2)
  })

  test('commands run, with their exit code, and end when their time is over', async () => {
    const exec = async (args: string[], timeout_secs?: number) =>
      (await call('POST /v1/sandboxes/:id/exec', [first], { args, timeout_secs })).json
    const script = 'cat /root/warm; echo err >&2; exit 3'
    expect(await exec(['sh', '-c', script])).toEqual({
      stdout: 'warm\n',
      stderr: 'err\n',
      exit_code: 3,
    })
    expect(await exec(['sh', '-c', 'kill -9 $$'])).toMatchObject({ exit_code: 137 })
    expect(await exec(['sleep', '60'], 1)).toMatchObject({ exit_code: 124 })
    expect(await exec(['no-such-program'])).toMatchObject({ exit_code: 127 })
    expect(await exec(['/etc/hostname'])).toMatchObject({ exit_code: 126 })
    const ping = await call('POST /v1/sandboxes/:id/ping', [first])
    expect(ping.json).toEqual({ pong: true, pid: 1 })
  })

  test('a token with labels sees only its own, and reads no files of the host', async () => {
    const { token: own } = await fp.tokens.create({ scope: 'branch', labels: { tenant: 'a' } })
    expect((await call('GET /v1/sandboxes', [], undefined, own)).json).toEqual([])
    expect((await call('GET /v1/sandboxes/:id', [first], undefined, own)).status).toBe(404)
    expect((await call('POST /v1/sandboxes', [], { snapshot_tag: 'base' }, own)).status).toBe(404)
    const wanted = { tag: 'mine', rootfs: '/etc' }
    expect((await call('POST /v1/snapshots', [], wanted, own)).status).toBe(403)
  })

  test('an interpreter is kept, also across a branch and into its forks', async () => {
    expect(await evaluated(first, '6 * 7')).toMatchObject({
      result: '42',
      error: null,
      exit_code: 0,
    })
    expect(await evaluated(first, 'seen = ["a"]\nprint("told")')).toMatchObject({
      result: null,
      exit_code: 0,
      stdout: 'told\n',
    })
    expect(await evaluated(first, 'nothing')).toMatchObject({
      result: null,
      error: "NameError: name 'nothing' is not defined",
      exit_code: 1,
    })
    const branch = { tag: 'thinking', mode: 'live', wait: false }
    const { status, json } = await call('POST /v1/sandboxes/:id/branch', [first], branch)
    expect(status).toBe(201)
    expect(json).toMatchObject({ tag: 'thinking', branched_from: first, bootable: true })
    expect(json.pause_ms).toBeTypeOf('number')
    await evaluated(first, 'seen.append("b")')
    const { json: forks } = await call('POST /v1/sandboxes', [], { snapshot_tag: 'thinking' })
    const fork = forks[0].id
    expect(await evaluated(fork, 'seen')).toMatchObject({ result: "['a']" })
    expect(await evaluated(first, 'seen')).toMatchObject({ result: "['a', 'b']" })
    expect((await call('GET /v1/sandboxes/:id', [first])).json).toMatchObject({
      has_branched: true,
      branch_count: 1,
    })
    expect((await call('DELETE /v1/sandboxes/:id', [fork])).status).toBe(204)
    expect((await call('GET /v1/sandboxes/:id', [fork])).status).toBe(404)
  })

  test('branches get a tag if they have none, and modes that exclude each other are refused', async () => {
    const branch = (body: object) => call('POST /v1/sandboxes/:id/branch', [first], body)
    const { json } = await branch({})
    expect(json.tag).toMatch(new RegExp(`^branch-${first}-`))
    expect((await branch({ tag: 'thinking' })).status).toBe(409)
    expect((await branch({ mode: 'full', diff: true })).status).toBe(400)
    expect((await branch({ wait: false })).status).toBe(400)
    expect((await branch({ tag: '../out' })).status).toBe(400)
    expect((await branch({ unknown: 1 })).status).toBe(400)
    const info = await call('GET /v1/snapshots/:tag/info', ['thinking'])
    expect(info.json).toMatchObject({
      tag: 'thinking',
      parent_tag: 'base',
      chain_depth: 1,
      ancestors: ['base'],
      dependents: [json.tag],
      memory_logical_bytes: expect.any(Number),
      memory_physical_bytes: expect.any(Number),
    })
  })

  test('a chain becomes one snapshot, and snapshots are removed', async () => {
    const compact = await call('POST /v1/snapshots/:tag/compact', ['thinking'], { to: 'flat' })
    expect(compact.status).toBe(201)
    expect(compact.json).toMatchObject({ tag: 'flat', bootable: true })
    const remove = (tag: string, query = '') => call('DELETE /v1/snapshots/:tag', [tag, query])
    const refused = await remove('base')
    expect(refused.status).toBe(409)
    expect(refused.json).toEqual({ error: expect.any(String) })
    expect((await remove('nobody')).status).toBe(404)
    for (const id of children) await call('DELETE /v1/sandboxes/:id', [id])
    const { json: forks } = await call('POST /v1/sandboxes', [], { snapshot_tag: 'flat' })
    expect(await evaluated(forks[0].id, 'seen')).toMatchObject({ result: "['a']" })
    await call('DELETE /v1/sandboxes/:id', [forks[0].id])
    expect((await remove('flat')).status).toBe(204)
    expect((await remove('thinking', '?cascade=true')).status).toBe(204)
    const left = (await call('GET /v1/snapshots')).json
    expect(left.map(({ tag }: { tag: string }) => tag)).toEqual(['base'])
  })

  test('a workspace is suspended, and resumes with what it had', async () => {
    const made = await call('POST /v1/workspaces', [], { name: 'desk', snapshot_tag: 'base' })
    expect(made.status).toBe(201)
    const { id } = made.json
    expect(made.json).toEqual({
      id,
      name: 'desk',
      source_snapshot_tag: 'base',
      status: 'running',
      live_sandbox_id: id,
      created_at_unix: expect.any(Number),
      last_active_unix: expect.any(Number),
    })
    await evaluated(id, 'kept = 1')
    const suspended = await call('POST /v1/workspaces/:name/suspend', ['desk'], { diff: true })
    expect(suspended.json).toMatchObject({
      status: 'suspended',
      current_state_tag: expect.any(String),
    })
    expect(suspended.json.live_sandbox_id).toBeUndefined()
    expect((await call('POST /v1/workspaces/:name/suspend', ['desk'])).status).toBe(409)
    expect((await call('GET /v1/sandboxes')).json).toEqual([])
    const resumed = await call('POST /v1/workspaces/:name/resume', ['desk'])
    expect(resumed.json).toMatchObject({ status: 'running', live_sandbox_id: id })
    expect((await call('POST /v1/workspaces/:name/resume', ['desk'])).status).toBe(409)
    expect(await evaluated(id, 'kept')).toMatchObject({ result: '1' })
    // What is forked from it has its labels, but is not it.
    await call('POST /v1/sandboxes/:id/branch', [id], { tag: 'of-desk' })
    const { json: forks } = await call('POST /v1/sandboxes', [], { snapshot_tag: 'of-desk' })
    const list = (await call('GET /v1/workspaces')).json
    expect(list.map(({ name }: { name: string }) => name)).toEqual(['desk'])
    expect((await call('GET /v1/workspaces/:name', [forks[0].id])).status).toBe(404)
    expect((await call('GET /v1/workspaces/:name', ['desk'])).json).toMatchObject({ id })
    await call('DELETE /v1/sandboxes/:id', [forks[0].id])
    expect((await call('DELETE /v1/workspaces/:name', ['desk'])).status).toBe(204)
    expect((await call('GET /v1/workspaces')).json).toEqual([])
  })

  test('what is not JSON or no route is refused in this form', async () => {
    const headers = { authorization: `Bearer ${token}` }
    const broken = await fetch(`${url}/v1/sandboxes`, { method: 'POST', headers, body: '{' })
    expect([broken.status, await broken.json()]).toEqual([400, { error: expect.any(String) }])
    const nowhere = await fetch(`${url}/v2/sandboxes`, { headers })
    expect([nowhere.status, await nowhere.json()]).toEqual([404, { error: expect.any(String) }])
    const cut = first.slice(0, 5)
    expect((await call('GET /v1/sandboxes/:id', [cut])).status).toBe(404)
  })

  test('every route of docs/forkd.md was called, and no other', () => {
    const rows = readPage('docs/forkd.md').text.matchAll(/^\| `([A-Z]+ \/\S+)` \|/gm)
    const routes = [...called].sort()
    expect(routes).toEqual(Array.from(rows, ([, route]) => route).sort())
    expectRow({ client: 'the routes of forkd', version: 'v0.5', works: routes })
  })
})
