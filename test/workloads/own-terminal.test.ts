import { expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'
import { see, type, typeAndSee } from '../support/workloads/terminal.ts'

/** Types the passphrase that ssh-keygen waits for, and looks whether it is the key's. */
async function answers(env: Environment): Promise<void> {
  await typeAndSee(env, 'main', 'secret\r', /same passphrase again/)
  await typeAndSee(env, 'main', 'secret\r', /fingerprint/)
  const { exitCode } = await env.exec('ssh-keygen -y -P secret -f /root/key')
  expect(exitCode).toBe(0)
}

test('a program that reads a passphrase from /dev/tty gets it in the original, in a fork and after a restore', async () => {
  await using home = new TestHome('own-terminal')
  await using fp = await home.open()
  const env = await fp.create()
  await type(env, 'main', 'ssh-keygen -q -t ed25519 -f /root/key && echo finger""print\r')
  await see(env, 'main', /Enter passphrase/)
  const asked = await env.snapshot()
  const [fork] = await asked.fork(1)
  if (fork === undefined) throw new Error('no fork')
  await answers(env)
  await answers(fork)
  await env.restore(asked)
  await answers(env)
})
