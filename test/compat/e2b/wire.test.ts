import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Sandbox } from 'e2b'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OutsideNetwork, whyNoNetworks } from '../../support/outside-network.ts'
import { patiently } from '../../support/patiently.ts'
import { type E2bHome, serveE2b } from './support/e2b-home.ts'

interface Answer {
  readonly status: number
  readonly text: string
}

describe('the wire of E2B', () => {
  let e2b: E2bHome
  let key: string
  let sandbox: Sandbox
  const optionsOf = (apiKey: string) => ({ apiKey, apiUrl: e2b.url, sandboxUrl: e2b.url })

  beforeAll(async () => {
    e2b = await serveE2b({ FORKPOINT_E2B_TEMPLATES: 'plain=host, offered=snapshot:everybodys' })
    key = await e2b.key({ name: 'first' })
    sandbox = await Sandbox.create({ ...optionsOf(key), metadata: { of: 'first' } })
  })
  afterAll(() => e2b?.[Symbol.asyncDispose]())

  /** A request as a client sends it, or as none would. */
  const ask = async (
    path: string,
    {
      headers = {},
      body,
      method,
    }: { headers?: object; body?: string | Buffer; method?: string } = {},
  ): Promise<Answer> => {
    const options = { headers: { ...headers }, ...(body !== undefined && { body }) }
    const verb = method ?? (body === undefined ? 'GET' : 'POST')
    const answer = await fetch(`${e2b.url}${path}`, { ...options, method: verb })
    return { status: answer.status, text: await answer.text() }
  }

  const withKey = (apiKey: string) => ({ headers: { 'x-api-key': apiKey } })

  /** What a client sends to the agent of a sandbox. */
  const toAgent = (token: string, id = sandbox.sandboxId) => ({
    'e2b-sandbox-id': id,
    'e2b-sandbox-port': '49983',
    'x-access-token': token,
    'content-type': 'application/json',
  })

  /** Both tokens of a sandbox are the same, and only this one can be read. */
  const tokenOf = ({ trafficAccessToken = '' }: Sandbox): string => trafficAccessToken

  /** A request with a host name that no resolver here knows. */
  const askHost = (host: string, headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { port } = new URL(e2b.url)
      const sent = request({ host: '127.0.0.1', port, path: '/', headers: { host, ...headers } })
      sent.on('error', reject)
      sent.on('response', (response) => {
        let text = ''
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      sent.end()
    })

  describe('keys', () => {
    test('nobody gets in without one, and not with a wrong one', async () => {
      expect((await ask('/v2/sandboxes')).status).toBe(401)
      expect((await ask('/v2/sandboxes', withKey(`e2b_${'0'.repeat(40)}`))).status).toBe(401)
      const wrong = optionsOf(`e2b_${'0'.repeat(40)}`)
      await expect(Sandbox.list(wrong).nextItems()).rejects.toThrow(/Unauthorized/)
    })

    test('a key sees and touches only its own sandboxes', async () => {
      const other = await e2b.key()
      expect(await Sandbox.list(optionsOf(other)).nextItems()).toEqual([])
      const { sandboxId } = sandbox
      await expect(Sandbox.connect(sandboxId, optionsOf(other))).rejects.toThrow(/not found/)
      expect(await Sandbox.kill(sandboxId, optionsOf(other))).toBe(false)
      // What others made without this wire is not there, either.
      const plain = await e2b.fp.create({ name: 'not-a-sandbox' })
      await expect(Sandbox.connect(plain.id, optionsOf(key))).rejects.toThrow(/not found/)
      await plain.remove()
      // An id is no name, and no beginning of one.
      for (const id of ['not-a-sandbox', sandboxId.slice(0, 6), '%2e%2e', 'e'.repeat(5000)]) {
        expect((await ask(`/sandboxes/${id}`, withKey(key))).status).toBeGreaterThanOrEqual(400)
      }
    })

    test('keys with the same labels share sandboxes, and others do not see them', async () => {
      const labels = { tenant: 'a' }
      const [one, two, stranger] = await Promise.all([
        e2b.key({ labels }),
        e2b.key({ labels }),
        e2b.key({ labels: { tenant: 'b' } }),
      ])
      const shared = await Sandbox.create({ ...optionsOf(one), metadata: { tenant: 'b', x: '1' } })
      const again = await Sandbox.connect(shared.sandboxId, optionsOf(two))
      expect((await again.commands.run('echo shared')).stdout).toBe('shared\n')
      expect((await again.getInfo()).metadata).toEqual({ x: '1' })
      expect(await Sandbox.list(optionsOf(stranger)).nextItems()).toEqual([])
      await expect(Sandbox.connect(shared.sandboxId, optionsOf(stranger))).rejects.toThrow()
      expect(await Sandbox.kill(shared.sandboxId, optionsOf(stranger))).toBe(false)
      await again.kill()
    })

    test('scopes hold', async () => {
      const labels = { team: 'scopes' }
      const branch = await e2b.key({ labels })
      const [read, exec] = await Promise.all([
        e2b.key({ labels, scope: 'read' }),
        e2b.key({ labels, scope: 'exec' }),
      ])
      const made = await Sandbox.create(optionsOf(branch))
      for (const weak of [read, exec]) {
        await expect(Sandbox.create(optionsOf(weak))).rejects.toThrow(/403.*scope/)
        await expect(Sandbox.kill(made.sandboxId, optionsOf(weak))).rejects.toThrow(/403.*scope/)
      }
      const { text } = await ask(`/sandboxes/${made.sandboxId}`, withKey(read))
      expect(JSON.parse(text).envdAccessToken).toBeUndefined()
      await made.kill()
    })

    test('a key that is removed ends its access tokens, and what streams with them', async () => {
      const short = await e2b.key({ name: 'short' })
      const own = await Sandbox.create(optionsOf(short))
      const running = await own.commands.run('sleep 1000', { background: true, timeoutMs: 0 })
      const ended = running.wait().catch((error: unknown) => error)
      await e2b.fp.tokens.remove('short')
      expect(await ended).toBeInstanceOf(Error)
      const { status } = await ask('/health', { headers: toAgent(tokenOf(own), own.sandboxId) })
      expect(status).toBe(403)
      await (await e2b.fp.get(own.sandboxId)).remove()
    })

    test('an access token opens one sandbox only', async () => {
      const other = await Sandbox.create(optionsOf(key))
      expect((await ask('/health', { headers: toAgent(tokenOf(sandbox)) })).status).toBe(204)
      expect((await ask('/health', { headers: toAgent(tokenOf(other)) })).status).toBe(401)
      expect((await ask('/health', { headers: toAgent('') })).status).toBe(401)
      const gone = { headers: toAgent(tokenOf(other), other.sandboxId) }
      await other.kill()
      expect((await ask('/health', gone)).status).toBe(502)
    })
  })

  describe('hostile requests', () => {
    test.each([
      ['no frame', Buffer.from('{}')],
      ['a frame that lies about its length', Buffer.from([0, 255, 255, 255, 255, 1])],
      ['a compressed frame', Buffer.concat([Buffer.from([1, 0, 0, 0, 2]), Buffer.from('{}')])],
      ['a frame without JSON', Buffer.concat([Buffer.from([0, 0, 0, 0, 2]), Buffer.from('}{')])],
    ])('%s is refused', async (_name, body) => {
      const headers = { ...toAgent(tokenOf(sandbox)), 'content-type': 'application/connect+json' }
      const { status } = await ask('/process.Process/Start', { headers, body })
      expect(status).toBe(400)
    })

    test.each([
      ['/filesystem.Filesystem/Stat', { path: '/etc/\u0000' }],
      ['/filesystem.Filesystem/Stat', { path: 7 }],
      ['/filesystem.Filesystem/ListDir', { path: `/${'x/'.repeat(5000)}` }],
      ['/filesystem.Filesystem/GetWatcherEvents', { watcherId: '../../x' }],
      ['/process.Process/SendInput', { process: { pid: -1 }, input: { stdin: '' } }],
      ['/process.Process/SendSignal', { process: { pid: 1 }, signal: 'SIGNAL_SIGKILL' }],
    ])('%s with a hostile message is refused', async (path, message) => {
      const headers = toAgent(tokenOf(sandbox))
      const { status } = await ask(path, { headers, body: JSON.stringify(message) })
      expect([400, 404]).toContain(status)
    })

    test('long bodies and headers are refused, and the sandbox still answers', async () => {
      const headers = { 'x-api-key': key, 'content-type': 'application/json' }
      const body = JSON.stringify({
        templateID: 'base',
        metadata: { a: 'x'.repeat(2 * 1024 ** 2) },
      })
      expect((await ask('/v2/sandboxes', { headers, body })).status).toBe(413)
      const reserved = JSON.stringify({ templateID: 'base', metadata: { 'e2b.key': 'theirs' } })
      expect((await ask('/v2/sandboxes', { headers, body: reserved })).status).toBe(400)
      expect((await ask('/sandboxes', { headers, body: '[]' })).status).toBe(400)
      expect((await sandbox.commands.run('echo alive')).stdout).toBe('alive\n')
    })

    test('a path of a file cannot leave the sandbox', async () => {
      await sandbox.files.write('../../../../srv/inside', 'x')
      expect(await sandbox.files.read('/srv/inside')).toBe('x')
      await expect(sandbox.files.read('/proc/1/root/../../srv')).rejects.toThrow()
    })
  })

  describe('signed URLs', () => {
    test('are for one path, one operation, and their time', async () => {
      await sandbox.files.write('/srv/signed', 'content')
      const url = await sandbox.downloadUrl('/srv/signed', { useSignatureExpiration: 1 })
      const status = async (changed: string, method = 'GET') =>
        (await fetch(changed, { method, ...(method === 'POST' && { body: 'x' }) })).status
      expect(await status(url)).toBe(200)
      expect(await status(url.replace('signed', 'passwd'))).toBe(401)
      expect(await status(url, 'POST')).toBe(401)
      expect(await status(url.replace(/expiration=\d+/, 'expiration=9999999999'))).toBe(401)
      await sleep(2100)
      expect(await status(url)).toBe(401)
    })
  })

  describe('templates', () => {
    test('are sources and snapshots of the configuration, for every key', async () => {
      const environment = await e2b.fp.create()
      await environment.files.write('/srv/prepared', 'for all')
      await environment.snapshot({ name: 'everybodys' })
      await environment.remove()
      const labelled = await e2b.key({ labels: { tenant: 'c' } })
      const [plain, offered] = await Promise.all([
        Sandbox.create('plain', optionsOf(labelled)),
        Sandbox.create('offered', { ...optionsOf(labelled), envs: { A: '1' } }),
      ])
      expect(await offered.files.read('/srv/prepared')).toBe('for all')
      expect((await offered.commands.run('echo $A')).stdout).toBe('1\n')
      expect((await plain.getInfo()).templateId).toBe('plain')
      await expect(Sandbox.create('everybodys', optionsOf(labelled))).rejects.toThrow(/not found/)
      await Promise.all([plain.kill(), offered.kill()])
    })
  })

  describe('ports', () => {
    const serveInside = async (port: number, made: Sandbox) => {
      const program = `require('http').createServer((q,r)=>r.end(JSON.stringify(q.headers))).listen(${port})`
      await made.commands.run(`node -e "${program}"`, { background: true, timeoutMs: 0 })
    }
    const whenUp = async (host: string, headers: Record<string, string> = {}) => {
      for (const end = Date.now() + 20_000; ; await sleep(50)) {
        const answer = await askHost(host, headers)
        if (answer.status === 200 || Date.now() > end) return answer
      }
    }

    test('are at the host name that getHost answers, without a token', async () => {
      await serveInside(8080, sandbox)
      const { status, text } = await whenUp(sandbox.getHost(8080))
      expect(status).toBe(200)
      expect(JSON.parse(text)).not.toHaveProperty('x-access-token')
      expect((await askHost(sandbox.getHost(8081))).status).toBe(502)
      expect((await askHost('8080-e00000000000.localhost')).status).toBe(502)
    })

    test('need the traffic token if the client said so', async () => {
      const network = { allowPublicTraffic: false }
      const made = await Sandbox.create({ ...optionsOf(key), network })
      await serveInside(8080, made)
      const token = { 'e2b-traffic-access-token': made.trafficAccessToken ?? '' }
      const { status, text } = await whenUp(made.getHost(8080), token)
      expect(status).toBe(200)
      expect(text).not.toContain(made.trafficAccessToken)
      expect((await askHost(made.getHost(8080))).status).toBe(401)
      const wrong = { 'e2b-traffic-access-token': tokenOf(sandbox) }
      expect((await askHost(made.getHost(8080), wrong)).status).toBe(401)
      await made.kill()
    })
  })

  describe('the network', () => {
    test('has the addresses that the client allows and no others, in forks and from snapshots too', async (ctx) => {
      if (whyNoNetworks !== null) ctx.skip(whyNoNetworks)
      await using far = await OutsideNetwork.start()
      const other = '198.51.100.77'
      far.alsoAt(other)
      const answers = async (made: Sandbox) => {
        const line = (address: string) =>
          `timeout 1 bash -c 'cat < /dev/tcp/${address}/${far.port} > /dev/null' && echo ${address}`
        const lines = `(${line(far.address)}) & (${line(other)}) & wait`
        const { stdout } = await made.commands.run(lines)
        return stdout.trim().split('\n').filter(Boolean).sort()
      }
      // A busy machine answers late.
      const reaches = async (made: Sandbox, addresses: string[]) =>
        await expect.poll(() => answers(made), patiently).toEqual(addresses)
      const network = { denyOut: ['0.0.0.0/0'], allowOut: [far.address] }
      const made = await Sandbox.create({ ...optionsOf(key), network })
      expect((await made.getInfo()).network).toMatchObject(network)
      await reaches(made, [far.address])
      const [fork] = (await made.fork()) as Sandbox[]
      await reaches(fork as Sandbox, [far.address])
      await made.updateNetwork({ denyOut: [far.address] })
      await reaches(made, [other])
      await made.updateNetwork({})
      await reaches(made, [other, far.address])
      const { snapshotId } = await made.createSnapshot()
      const closed = { ...optionsOf(key), network: { denyOut: ['198.51.0.0/16'] } }
      const copy = await Sandbox.create(snapshotId, closed)
      await reaches(copy, [far.address])
      await expect(
        Sandbox.create({ ...optionsOf(key), network: { allowOut: ['example.com'] } }),
      ).rejects.toThrow(/the name of a domain \("example.com"\)/)
      await Promise.all([made, fork, copy].map((each) => each?.kill()))
    })
  })

  describe('metadata of files', () => {
    test('is in forks, and refused if it is too long', async () => {
      await sandbox.files.write('/srv/noted', '1', { metadata: { origin: 'here' } })
      const [fork] = (await sandbox.fork()) as Sandbox[]
      expect((await fork?.files.getInfo('/srv/noted'))?.metadata).toEqual({ origin: 'here' })
      await fork?.kill()
      const metadata = { long: 'x'.repeat(4096) }
      await expect(sandbox.files.write('/srv/noted', '2', { metadata })).rejects.toThrow(
        /cannot be kept: \d+ bytes/,
      )
      expect(await sandbox.files.read('/srv/noted')).toBe('1')
    })
  })

  describe('timeouts', () => {
    test('kill or pause, as the lifecycle says, and a paused sandbox wakes if it may', async () => {
      const make = (lifecycle: object) =>
        Sandbox.create({ ...optionsOf(key), timeoutMs: 2000, ...lifecycle })
      const [killed, paused, waking] = await Promise.all([
        make({}),
        make({ lifecycle: { onTimeout: 'pause' } }),
        make({ lifecycle: { onTimeout: 'pause', autoResume: true } }),
      ])
      await waking.commands.run('echo kept > /srv/kept')
      const stateOf = async (made: Sandbox) =>
        await made.getInfo().then(
          ({ state }) => state,
          () => 'gone',
        )
      await expect.poll(() => stateOf(killed)).toBe('gone')
      await expect.poll(() => stateOf(paused)).toBe('paused')
      await expect.poll(() => stateOf(waking)).toBe('paused')
      expect(await paused.isRunning()).toBe(false)
      await expect(paused.commands.run('true')).rejects.toThrow(/not running/)
      expect(await waking.files.read('/srv/kept')).toBe('kept\n')
      expect(await stateOf(waking)).toBe('running')
      const again = await Sandbox.connect(paused.sandboxId, {
        ...optionsOf(key),
        timeoutMs: 60_000,
      })
      expect((await again.commands.run('echo back')).stdout).toBe('back\n')
      await Promise.all([again.kill(), waking.kill()])
    })
  })

  test('clients that ask for changes of files get them', async () => {
    const headers = toAgent(tokenOf(sandbox))
    const call = async (method: string, message: object) => {
      const body = JSON.stringify(message)
      const { text } = await ask(`/filesystem.Filesystem/${method}`, { headers, body })
      return JSON.parse(text)
    }
    await sandbox.files.makeDir('/srv/watched')
    const { watcherId } = await call('CreateWatcher', { path: '/srv/watched', includeEntry: true })
    await sandbox.files.write('/srv/watched/new', '123')
    const seen: { name: string; entry?: { size: string } }[] = []
    await expect
      .poll(async () => {
        seen.push(...(await call('GetWatcherEvents', { watcherId })).events)
        return seen.some(({ name, entry }) => name === 'new' && entry?.size === '3')
      })
      .toBe(true)
    // One sandbox cannot take the watchers of the others.
    const more = await Promise.all(
      Array.from({ length: 50 }, () => call('CreateWatcher', { path: '/srv/watched' })),
    )
    const made = more.filter((each) => each.watcherId !== undefined)
    expect(made.length).toBe(49)
    expect(more.find((each) => each.watcherId === undefined).message).toContain('50 watchers')
    await Promise.all(made.map((each) => call('RemoveWatcher', { watcherId: each.watcherId })))
    expect(await call('RemoveWatcher', { watcherId })).toEqual({})
    expect((await call('GetWatcherEvents', { watcherId })).code).toBe('not_found')
  })
})
