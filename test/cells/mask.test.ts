import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { InvalidInputError } from '../../src/index.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('mask')
const files = new TemporaryDirectory()
writeFileSync(files.file('token'), 'secret')
writeFileSync(files.file('plain'), 'open')
mkdirSync(files.file('keys'))
writeFileSync(files.file('keys/private'), 'secret')
mkdirSync(files.file('vault'))
writeFileSync(files.file('vault/real'), 'secret')
symlinkSync('vault/real', files.file('link'))

afterAll(async () => {
  files[Symbol.dispose]()
  await home[Symbol.asyncDispose]()
})

const add = [files.file('token'), files.file('k*'), files.file('link'), files.file('later')]

/** What an environment sees under these settings. */
async function seeing(
  settings: Record<string, unknown>,
  look: (env: Environment) => Promise<void>,
): Promise<void> {
  const fp = await home.open(settings)
  const env = await fp.create()
  try {
    await look(env)
  } finally {
    await env.remove()
  }
}

const exists = async (env: Environment, path: string) =>
  (await env.exec(['test', '-e', path, '-o', '-L', path], { mode: 'process' })).exitCode === 0

describe('mask.add', () => {
  test('hides a file, a pattern, and a symlink together with its target', async () => {
    await seeing({ 'mask.add': add }, async (env) => {
      expect((await env.exec(`cd ${files.path}; find . -mindepth 1 | sort`)).stdout).toBe(
        './plain\n./vault\n',
      )
      expect((await env.exec(`grep -rs secret ${files.path}`)).stdout).toBe('')
    })
  })

  test('lets the environment make its own files at that path', async () => {
    await seeing({ 'mask.add': add }, async (env) => {
      await env.exec(`echo mine > ${files.file('token')}`)
      expect((await env.exec(`cat ${files.file('token')}`)).stdout).toBe('mine\n')
    })
    expect(readFileSync(files.file('token'), 'utf8')).toBe('secret')
  })

  test('hides a path that appears on the host later', async () => {
    await seeing({ 'mask.add': add }, async (env) => {
      writeFileSync(files.file('later'), 'secret')
      expect(await exists(env, files.file('later'))).toBe(false)
    })
    rmSync(files.file('later'))
  })

  test('hides nothing if it is not set', async () => {
    await seeing({}, async (env) => {
      expect(await exists(env, files.file('token'))).toBe(true)
    })
  })
})

describe('by default', () => {
  test("root's keys, the machine's keys and the store are hidden", async () => {
    await seeing({}, async (env) => {
      expect(await exists(env, '/root/.ssh')).toBe(false)
      expect(await exists(env, '/root/.bash_history')).toBe(false)
      expect((await env.exec('ls -d /etc/ssh/ssh_host_* /etc/ssl/private')).stdout).toBe('')
      expect(await exists(env, home.path)).toBe(false)
    })
  })

  test("the host's passwords cannot be used, and users still exist", async () => {
    await seeing({}, async (env) => {
      const inside = (await env.exec('cat /etc/shadow')).stdout
      expect(inside.split('\n').filter(Boolean).length).toBeGreaterThan(0)
      for (const line of inside.split('\n').filter(Boolean)) expect(line).toMatch(/^[^:]+:\*:/)
      expect(await exists(env, '/etc/shadow-')).toBe(false)
      expect((await env.exec('getent passwd root daemon | wc -l')).stdout).toBe('2\n')
    })
  })
})

describe('mask.remove', () => {
  test('shows an entry again', async () => {
    const hidden = '/etc/ssl/private'
    await seeing({ 'mask.remove': [hidden] }, async (env) => {
      const there = readdirSync('/etc/ssl').includes('private')
      expect(await exists(env, hidden)).toBe(there)
    })
    const [entry = ''] = add
    await seeing({ 'mask.add': [entry], 'mask.remove': [entry] }, async (env) => {
      expect(await exists(env, entry)).toBe(true)
    })
  })

  test('refuses a path that is not an entry', async () => {
    await expect(home.open({ 'mask.remove': ['/no/entry'] })).rejects.toBeInstanceOf(
      InvalidInputError,
    )
  })
})
