import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { openEngine } from '../../../src/engine/engine.ts'
import { Forkpoint } from '../../../src/index.ts'
import { TestHome } from '../../support/test-home.ts'

describe('files of a live environment', () => {
  test('are read from outside, with the ids seen inside', async () => {
    await using home = new TestHome('view')
    const fp = await home.open()
    const env = await fp.create({ from: 'host', net: 'none' })
    const script = 'mkdir /srv/x && echo hi > /srv/x/f && chown 5:6 /srv/x/f && rm /etc/hostname'
    expect((await env.exec(script)).exitCode).toBe(0)
    const { settings } = Forkpoint.settings({ settings: { home: home.path } })
    await using engine = await openEngine(settings)
    const record = engine.store.environments.resolve(env.id)
    const { files } = engine.backend(record.backend)
    if (!record.instance || !files) throw new Error('no instance')
    const view = files.view(env.id, record.instance)
    const changes = await files.changes(files.baseView(view), view, {
      paths: ['/srv', '/etc/hostname'],
    })
    expect(changes).toMatchObject([
      { path: '/etc/hostname', kind: 'deleted' },
      { path: '/srv/x', kind: 'added', after: { uid: 0, gid: 0 } },
      { path: '/srv/x/f', kind: 'added', after: { uid: 5, gid: 6, sizeBytes: 3 } },
    ])
    const content = await text(await files.openFile(view, '/srv/x/f'))
    expect(content).toBe('hi\n')
  })
})
