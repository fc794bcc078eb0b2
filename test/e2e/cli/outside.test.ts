// Connections to other machines, as the command line tells of them.
import { afterAll, expect, test } from 'vitest'
import { unless } from '../../support/evidence.ts'
import { OutsideNetwork, whyNoNetworks } from '../../support/outside-network.ts'
import { startFarServer } from '../../undisturbed/support/far-server.ts'
import { CliHome } from './cli-home.ts'

const outside = whyNoNetworks === null ? await OutsideNetwork.start() : null
const server = outside && (await startFarServer(outside))
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await outside?.[Symbol.asyncDispose]()
})

/** The far server numbers the lines of a connection. */
const talk = 'echo hello >&7; read -r -t 20 answer <&7; echo $answer'

test('those that are lost are listed, and one fork can be given them', {
  ...unless(whyNoNetworks),
  timeout: 120_000,
}, async () => {
  await using cli = new CliHome()
  await cli.must('create', '--name', 'web', '--net', 'nat')
  await cli.must('exec', 'web', '--', `exec 7<> /dev/tcp/${outside?.address}/7100; ${talk}`)
  const lost = new RegExp(
    `^lost: bash \\(\\d+\\): the TCP connection from [\\d.:]+ to ${outside?.address}:7100 is closed: .*$`,
    'm',
  )
  expect(await cli.must('snapshot', 'web', '--name', 'ready')).toMatch(lost)

  const refused = await cli.run(['fork', 'ready', '--connections', 'keep'])
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain('fork the environment that has them')
  const kept = await cli.must('fork', 'web', '--name', 'heir', '--connections', 'keep')
  expect(kept).not.toContain('lost')
  expect(await cli.must('exec', 'heir', '--', talk)).toBe('2 hello\n')

  expect(await cli.must('restore', 'web', 'ready')).toMatch(lost)
  await cli.must('exec', 'web', '--', `exec 7<> /dev/tcp/${outside?.address}/7100; ${talk}`)
  await cli.must('pause', 'web', '--release')
  expect(await cli.must('resume', 'web')).toMatch(lost)
  expect(await cli.must('exec', 'heir', '--', talk)).toBe('3 hello\n')
})
