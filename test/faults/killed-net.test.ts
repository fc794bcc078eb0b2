// SIGKILL while the network of an environment is switched: it has the network that its record says.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { killWalks } from '../support/kill-walks.ts'
import { OutsideNetwork, whyNoNetworks } from '../support/outside-network.ts'
import { expectNothing, remainsOf } from '../support/remains.ts'
import { runProgram } from '../support/run-program.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'

const home = new TestHome('killed-net')
const outside = whyNoNetworks === null ? await OutsideNetwork.start() : null

beforeAll(async () => {
  await using fp = await home.open()
  const env = await fp.create({ name: 'victim' })
  await env.exec('X=kept; sleep 1000 & job=$!')
})
afterAll(async () => {
  await outside?.[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})
beforeEach((ctx) => {
  if (whyNoNetworks !== null) ctx.skip(whyNoNetworks)
})

async function reaches(env: Environment, seconds = 5): Promise<boolean> {
  const { address, port } = outside as OutsideNetwork
  const line = `timeout ${seconds} bash -c 'cat < /dev/tcp/${address}/${port}'`
  return (await env.exec(line)).exitCode === 0
}

for (const [before, after] of [
  ['none', 'nat'],
  ['nat', 'none'],
] as const) {
  test.each(killWalks.net)(
    `from ${before} to ${after}, at %s, it stays as it was`,
    async (point) => {
      {
        await using fp = await home.open()
        await (await fp.get('victim')).setNet(before)
      }
      const ended = await runProgram(home, ['net', 'victim', after], { FORKPOINT_KILL_AT: point })
      expect(ended, ended.stderr).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
      await using fp = await home.open()
      const env = await fp.get('victim')
      expect((await env.info()).net.mode).toBe(before)
      expect(remainsOf(home).interfaces).toHaveLength(before === 'nat' ? 1 : 0)
      expect(await reaches(env)).toBe(before === 'nat')
      expect((await env.exec('echo $X; kill -0 $job && echo alive')).stdout).toBe('kept\nalive\n')
      await env.setNet(after)
      expect(await reaches(env)).toBe(after === 'nat')
      await expectTidy(home, fp)
    },
  )
}

test.each(killWalks.net)(
  'denied networks that change, at %s, stay as they were, with their connections',
  async (point) => {
    const { address, port } = outside as OutsideNetwork
    const denyOut = ['192.0.2.1/32']
    const before = { mode: 'nat', allow: [], denyOut }
    {
      await using fp = await home.open()
      const env = await fp.get('victim')
      await env.setNet('none')
      await env.setNet('nat', { denyOut })
      await env.exec(`exec 9<>/dev/tcp/${address}/${port}`)
    }
    const ended = await runProgram(home, ['deny', 'victim'], { FORKPOINT_KILL_AT: point })
    expect(ended, ended.stderr).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
    await using fp = await home.open()
    const env = await fp.get('victim')
    expect((await env.info()).net).toEqual(before)
    const { stdout } = await env.exec('timeout 5 cat <&9; exec 9<&-')
    expect(stdout).toBe(outside?.hostAddress)
    expect(await reaches(env)).toBe(true)
    await env.setNet('nat', { denyOut: ['0.0.0.0/0'] })
    expect(await reaches(env, 1)).toBe(false)
    await env.setNet('nat', { denyOut: [] })
    await expectTidy(home, fp)
  },
)

test('removing it leaves nothing', async () => {
  await home.removeAll()
  await expectNothing(home)
})
