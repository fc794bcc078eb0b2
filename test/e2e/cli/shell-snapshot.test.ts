import { expect, test } from 'vitest'
import { Forkpoint } from '../../../src/index.ts'
import { CliHome } from './cli-home.ts'
import { TmuxTerminal } from './tmux-terminal.ts'

test('a user in a shell does not notice a snapshot, and sees a restore', async () => {
  await using cli = new CliHome()
  await using fp = await Forkpoint.open({ settings: { home: cli.home.path } })
  const env = await fp.create({ name: 'web' })
  await using terminal = await TmuxTerminal.start(cli.env)
  await terminal.line('forkpoint shell web')
  await terminal.shows(/root@web:\S*# $/)
  await terminal.line('word=kept; echo first')
  await terminal.shows(/^first$/m)
  await terminal.type('echo "$word')
  await terminal.shows(/echo "\$word$/)
  const base = await env.snapshot()
  await terminal.type(' after"')
  await terminal.keys('Enter')
  await terminal.shows(/^kept after$/m)
  await terminal.line('word=changed; clear')
  await terminal.shows(/^root@web:\S*# $/)
  await env.restore(base)
  await terminal.shows(/^first$[\s\S]*echo "\$word$/m)
  await terminal.line('"')
  expect(await terminal.shows(/^kept$/m)).not.toContain('changed')
})
