import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { selfSigned } from '../../support/through-daemon.ts'
import { CliHome } from './cli-home.ts'

const cli = new CliHome()
const files = mkdtempSync(join(tmpdir(), 'fp-service-'))
afterAll(async () => {
  await cli.run(['serve', '--stop'])
  await cli[Symbol.asyncDispose]()
  rmSync(files, { recursive: true, force: true })
})
const socket = join(cli.home.path, 'forkpoint.sock')

describe('forkpoint serve', () => {
  test('in the background serves the home, and other commands use it by themselves', async () => {
    await cli.must('create', '--name', 'web')
    const { document } = await cli.json('serve', '--detach')
    expect(document.addresses).toEqual([`unix://${socket}`])
    expect(statSync(socket).mode & 0o777).toBe(0o660)
    expect(await cli.must('exec', 'web', '--', 'echo near')).toBe('near\n')
    expect(await cli.must('--host', 'embedded', 'exec', 'web', '--', 'echo own')).toBe('own\n')
    const audit = readFileSync(join(cli.home.path, 'audit.log'), 'utf8')
    expect(audit).toContain('"operation":"exec"')
    const { exitCode, stderr } = await cli.run(['serve'])
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining('already listens')])
  })

  test('in the background beside another one fails, and says why', async () => {
    const taken = await cli.run(['serve', '--detach'])
    expect([taken.exitCode, taken.stderr]).toEqual([1, expect.stringContaining('already listens')])
    const unsafe = await cli.run(['serve', '--detach', '--listen', '0.0.0.0:0'])
    expect([unsafe.exitCode, unsafe.stderr]).toEqual([1, expect.stringContaining('--tls-cert')])
  })

  test('passes on exit codes, streams and stdin', async () => {
    const run = await cli.run(['exec', 'web', '--', 'cat; echo err >&2; exit 5'], {
      stdin: Buffer.from('piped'),
    })
    expect(run).toMatchObject({ exitCode: 5, stdout: 'piped' })
    expect(run.stderr).toContain('err')
    expect((await cli.run(['exec', 'nobody', '--', 'true'])).exitCode).toBe(3)
  })

  test('ends on request, and leaves environments running', async () => {
    await cli.must('serve', '--stop')
    expect(existsSync(socket)).toBe(false)
    expect((await cli.run(['serve', '--stop'])).exitCode).toBe(3)
    expect(await cli.must('exec', 'web', '--', 'echo still')).toBe('still\n')
  })

  test('refuses other machines without TLS', async () => {
    const { exitCode, stderr } = await cli.run(['serve', '--listen', '0.0.0.0:0'])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--tls-cert')])
  })
})

describe('from elsewhere', () => {
  test('a host, a token and a context lead to a daemon over TLS', async () => {
    const { cert, key } = selfSigned(files)
    const { document: created } = await cli.json('token', 'create', 'ci', '--scope', 'read,exec')
    expect(created).toMatchObject({ name: 'ci', scopes: ['read', 'exec'] })
    const tls = ['--tls-cert', cert, '--tls-key', key]
    const child = cli.start(['serve', '--listen', '127.0.0.1:0', ...tls])
    const url = await untilUrl(child.stdout)
    const far = { FORKPOINT_HOST: url, FORKPOINT_TOKEN: created.token, FORKPOINT_CA: cert }
    const run = await cli.run(['exec', 'web', '--', 'echo far'], { env: far })
    expect([run.stdout, run.exitCode]).toEqual(['far\n', 0])
    const refused = await cli.run(['create'], { env: far })
    expect([refused.exitCode, refused.stderr]).toEqual([7, expect.stringContaining('branch')])
    const unknown = await cli.run(['ls'], { env: { ...far, FORKPOINT_TOKEN: 'fp_no' } })
    expect(unknown.exitCode).toBe(7)

    const own = { XDG_CONFIG_HOME: files }
    const add = ['context', 'add', 'far', url, '--token', created.token, '--ca', cert]
    await cli.run(add, { env: own })
    expect((await cli.run(['ls', '-q'], { env: own })).stdout).toMatch(/^e/)
    const shown = await cli.run(['--json', 'context', 'ls'], { env: own })
    expect(shown.stdout).not.toContain(created.token)
    expect(JSON.parse(shown.stdout)).toContainEqual({ name: 'far', host: url, inUse: true })
    await cli.run(['context', 'use', 'local'], { env: own })
    await cli.run(['context', 'rm', 'far'], { env: own })
    expect((await cli.run(['context', 'use', 'far'], { env: own })).exitCode).toBe(3)
    child.kill('SIGTERM')
  })

  test('a daemon that cannot be reached is a failure, not the embedded engine', async () => {
    const env = { FORKPOINT_HOST: 'unix:///nowhere/forkpoint.sock' }
    const { exitCode, stderr } = await cli.run(['ls'], { env })
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('cannot reach the daemon')])
  })
})

async function untilUrl(output: AsyncIterable<Buffer> | null): Promise<string> {
  let text = ''
  for await (const chunk of output ?? []) {
    text += chunk
    const [url] = /https:\/\/\S+/.exec(text) ?? []
    if (url !== undefined) return url
  }
  throw new Error(`no address in ${JSON.stringify(text)}`)
}
