// The directory of the agent's socket is writable by root inside. Whatever is put there, the host
// must neither follow it, nor wait for it, nor be kept from removing the environment.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import { BackendError, type Environment } from '../../src/index.ts'
import { environmentPlaces } from '../support/environment-places.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('hostile')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open()

const impostor = `
import socket, os
os.unlink('agent.sock')
s = socket.socket(socket.AF_UNIX); s.bind('agent.sock'); s.listen(5)
print('listening', flush=True)
kept = []
while True: kept.append(s.accept())
`

/** A host that connects again after root inside has run `script` in the socket's directory. */
async function afterwards(script: string): Promise<Environment> {
  const env = await fp.create()
  const { exitCode, stderr } = await env.exec(['bash', '-c', `cd /run/forkpoint; ${script}`], {
    mode: 'process',
  })
  expect([exitCode, stderr]).toEqual([0, ''])
  const other = await home.open()
  return other.get(env.id)
}

async function isRefusedQuickly(env: Environment): Promise<void> {
  const startedAt = performance.now()
  await expect(env.exec('true')).rejects.toBeInstanceOf(BackendError)
  expect(performance.now() - startedAt).toBeLessThan(8000)
}

describe('the host refuses to talk', () => {
  test('to a symlink to a socket of the host', async () => {
    await isRefusedQuickly(await afterwards('ln -sf /run/systemd/private agent.sock'))
  })

  test('to a symlink to a file of the host', async () => {
    await isRefusedQuickly(await afterwards('ln -sf /etc/passwd agent.sock'))
  })

  test('to a file', async () => {
    await isRefusedQuickly(await afterwards('rm agent.sock; echo > agent.sock'))
  })

  test('to a fifo', async () => {
    await isRefusedQuickly(await afterwards('rm agent.sock; mkfifo agent.sock'))
  })

  test('to a directory', async () => {
    await isRefusedQuickly(await afterwards('rm agent.sock; mkdir agent.sock'))
  })

  test('to nothing', async () => {
    await isRefusedQuickly(await afterwards('rm agent.sock'))
  })

  test('to another socket that listens there', async () => {
    const env = await fp.create()
    const fake = await env.spawn(['/usr/bin/python3', '-c', impostor], {
      mode: 'process',
      cwd: '/run/forkpoint',
    })
    for await (const chunk of fake.stdout) {
      expect(chunk.toString()).toBe('listening\n')
      break
    }
    await isRefusedQuickly(await (await home.open()).get(env.id))
  })

  test('to a link to the socket of another environment', async () => {
    const victim = await fp.create()
    const target = environmentPlaces(home.path, victim.id).socket
    const env = await afterwards(`ln -sf ${target} agent.sock`)
    await isRefusedQuickly(env)
    expect((await victim.exec('echo unharmed')).stdout).toBe('unharmed\n')
  })

  test('and can still remove all of these environments', async () => {
    const env = await afterwards('rm agent.sock; mkdir -p agent.sock/a/b; chmod 0 .')
    await env.remove()
    expect(existsSync(placesOf(home.path).env(env.id))).toBe(false)
  })
})

describe('renaming an environment', () => {
  test('does not write through a symlink at identity.json', async () => {
    using files = new TemporaryDirectory()
    writeFileSync(files.file('precious'), 'host')
    const env = await afterwards(`ln -sf ${files.file('precious')} identity.json`)
    await env.rename('renamed')
    expect(readFileSync(files.file('precious'), 'utf8')).toBe('host')
    const { run } = environmentPlaces(home.path, env.id)
    expect(statSync(join(run, 'identity.json')).isFile()).toBe(true)
    expect(JSON.parse(readFileSync(join(run, 'identity.json'), 'utf8')).name).toBe('renamed')
  })

  test('fails with a clear error and keeps the old name if identity.json cannot be replaced', async () => {
    const env = await afterwards('rm identity.json; mkdir identity.json; touch identity.json/x')
    await env.rename('first').catch(() => {})
    await expect(env.rename('renamed')).rejects.toBeInstanceOf(BackendError)
    expect((await fp.get(env.id)).name).toBe(null)
  })
})

describe('removing an environment', () => {
  test('does not remove what its symlinks point to', async () => {
    using files = new TemporaryDirectory()
    writeFileSync(files.file('precious'), 'host')
    const env = await afterwards(
      `ln -s ${files.path} link; ln -s ${files.path} /root/link; ln -s / /root/everything`,
    )
    await env.remove()
    expect(readFileSync(files.file('precious'), 'utf8')).toBe('host')
    expect(execFileSync('ls', [files.path], { encoding: 'utf8' })).toBe('precious\n')
  })
})
