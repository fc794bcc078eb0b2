import type { FilesystemEvent } from 'e2b'
import { check, equal, failure, type Stop, since, soon } from './tour.ts'

/** Files. */
export const fileStops: readonly Stop[] = [
  {
    method: 'files.write',
    run: async ({ sandbox }) => {
      const { path, name } = await sandbox.files.write('notes/a b.txt', 'one')
      equal({ path, name }, { path: '/home/user/notes/a b.txt', name: 'a b.txt' })
      await sandbox.files.write([
        { path: '/tmp/many/1', data: '1' },
        { path: '/tmp/many/2', data: new Blob(['2']) },
      ])
      equal((await sandbox.commands.run('cat /tmp/many/*')).stdout, '12')
    },
  },
  {
    method: 'files.write of a stream, and compressed',
    run: async ({ sandbox }) => {
      const stream = new Blob(['x'.repeat(300_000)]).stream()
      await sandbox.files.write('/tmp/streamed', stream)
      equal((await sandbox.files.read('/tmp/streamed')).length, 300_000)
      const { size } = await sandbox.files.getInfo('/tmp/streamed')
      equal(size, 300_000)
      await sandbox.files.write('/tmp/packed', 'y'.repeat(1000), { gzip: true } as object)
      equal(await sandbox.files.read('/tmp/packed'), 'y'.repeat(1000))
    },
  },
  {
    method: 'files.writeFiles',
    run: async ({ sandbox }) => {
      const write = since(sandbox.files.writeFiles?.bind(sandbox.files))
      const written = await write([{ path: '/tmp/w1', data: 'w' }])
      equal(written[0]?.path, '/tmp/w1')
    },
  },
  {
    method: 'files.read',
    run: async ({ sandbox }) => {
      const bytes = Buffer.from([0, 255, 10, 13, 128])
      await sandbox.files.write('/tmp/bytes', new Blob([bytes]))
      equal([...(await sandbox.files.read('/tmp/bytes', { format: 'bytes' }))], [...bytes])
      const blob = await sandbox.files.read('/tmp/bytes', { format: 'blob' })
      equal(blob.size, bytes.length)
      const stream = await sandbox.files.read('/tmp/bytes', { format: 'stream' })
      equal((await new Response(stream).arrayBuffer()).byteLength, bytes.length)
      await sandbox.files.write('/tmp/empty', '')
      equal(await sandbox.files.read('/tmp/empty'), '')
      const error = await failure(sandbox.files.read('/tmp/missing'))
      check(/NotFoundError/.test(error.name), error.name)
    },
  },
  {
    method: 'files.list',
    run: async ({ sandbox }) => {
      await sandbox.commands.run('mkdir -p /tmp/tree/a/b && touch /tmp/tree/a/b/c /tmp/tree/d')
      const names = async (depth: number) =>
        (await sandbox.files.list('/tmp/tree', { depth })).map(({ path }) => path).sort()
      equal(await names(1), ['/tmp/tree/a', '/tmp/tree/d'])
      equal((await names(3)).at(-2), '/tmp/tree/a/b/c')
    },
  },
  {
    method: 'files.exists',
    run: async ({ sandbox }) => {
      equal(await sandbox.files.exists('/etc/passwd'), true)
      equal(await sandbox.files.exists('/etc/nothing'), false)
    },
  },
  {
    method: 'files.getInfo',
    run: async ({ sandbox }) => {
      await sandbox.commands.run(
        'echo 12345 > /tmp/known; chmod 640 /tmp/known; ln -s known /tmp/l',
      )
      const { size, mode, permissions, owner, type } = await sandbox.files.getInfo('/tmp/known')
      equal(
        { size, mode, permissions, owner, type },
        { size: 6, mode: 0o640, permissions: '-rw-r-----', owner: 'root', type: 'file' },
      )
      const link = await sandbox.files.getInfo('/tmp/l')
      equal(link.symlinkTarget, 'known')
    },
  },
  {
    method: 'files.makeDir',
    run: async ({ sandbox }) => {
      equal(await sandbox.files.makeDir('/tmp/new/dir'), true)
      equal(await sandbox.files.makeDir('/tmp/new/dir'), false)
    },
  },
  {
    method: 'files.rename',
    run: async ({ sandbox }) => {
      await sandbox.files.write('/tmp/old', 'r')
      equal((await sandbox.files.rename('/tmp/old', '/tmp/renamed')).path, '/tmp/renamed')
      equal(await sandbox.files.exists('/tmp/old'), false)
    },
  },
  {
    method: 'files.remove',
    run: async ({ sandbox }) => {
      await sandbox.files.write('/tmp/gone/deep/file', '')
      await sandbox.files.remove('/tmp/gone')
      equal(await sandbox.files.exists('/tmp/gone'), false)
    },
  },
  {
    method: 'files.watchDir',
    run: async ({ sandbox }) => {
      const events: FilesystemEvent[] = []
      await sandbox.files.makeDir('/tmp/watched/below')
      const onEvent = (event: FilesystemEvent) => void events.push(event)
      const watch = await sandbox.files.watchDir('/tmp/watched', onEvent, { recursive: true })
      await sandbox.files.write('/tmp/watched/below/f', '1')
      await soon('an event', () =>
        events.some(({ type, name }) => type === 'create' && name.startsWith('below/')),
      )
      await watch.stop()
    },
  },
  {
    method: 'files.write with metadata',
    run: async ({ sandbox, kept }) => {
      // This version does not send it.
      since(kept.get('name') === 'e2b-2.20' ? undefined : 'metadata')
      const { files } = sandbox
      const [author, stage] = ['me = I', '2']
      const options: object = { metadata: { author, Stage: stage } }
      const written: { metadata?: object } = await files.write('/tmp/noted/with', '1', options)
      equal(written.metadata, { author, stage })
      const info: { metadata?: object } = await files.getInfo('/tmp/noted/with')
      equal(Object.entries(info.metadata ?? {}).sort(), Object.entries({ author, stage }))
      await files.rename('/tmp/noted/with', '/tmp/noted/moved')
      const listed: { name: string; metadata?: object }[] = await files.list('/tmp/noted')
      equal(
        listed.map(({ name, metadata = {} }) => [name, ...Object.keys(metadata).sort()]),
        [['moved', 'author', 'stage']],
      )
      await files.write('/tmp/noted/moved', '2')
      const again: { metadata?: object } = await files.getInfo('/tmp/noted/moved')
      equal(again.metadata, undefined)
    },
  },
]

/** Git, which is commands inside. */
export const gitStops: readonly Stop[] = [
  {
    method: 'git.init, configureUser, add, commit, status',
    run: async ({ sandbox }) => {
      const git = since(sandbox.git)
      await git.init('/tmp/tour-repo', { initialBranch: 'main' })
      await git.configureUser('A', 'a@example.com')
      await sandbox.files.write('/tmp/tour-repo/file', '1')
      equal((await git.status('/tmp/tour-repo')).fileStatus?.length, 1)
      await git.add('/tmp/tour-repo')
      await git.commit('/tmp/tour-repo', 'first')
      equal((await git.status('/tmp/tour-repo')).fileStatus?.length, 0)
    },
  },
  {
    method: 'git.branches, createBranch, checkoutBranch, deleteBranch',
    run: async ({ sandbox }) => {
      const git = since(sandbox.git)
      await git.createBranch('/tmp/tour-repo', 'side')
      equal((await git.branches('/tmp/tour-repo')).branches.sort(), ['main', 'side'])
      await git.checkoutBranch('/tmp/tour-repo', 'main')
      await git.deleteBranch('/tmp/tour-repo', 'side', { force: true })
      equal((await git.branches('/tmp/tour-repo')).branches, ['main'])
    },
  },
  {
    method: 'git.clone, remoteAdd, push, pull, getConfig',
    run: async ({ sandbox }) => {
      const git = since(sandbox.git)
      await git.init('/tmp/tour-bare', { bare: true, initialBranch: 'main' })
      await git.remoteAdd('/tmp/tour-repo', 'origin', '/tmp/tour-bare')
      await git.push('/tmp/tour-repo', { remote: 'origin', branch: 'main', setUpstream: true })
      await git.clone('/tmp/tour-bare', { path: '/tmp/tour-clone' })
      equal(await sandbox.files.read('/tmp/tour-clone/file'), '1')
      await git.pull('/tmp/tour-clone')
      equal(await git.getConfig('user.name', { scope: 'global' }), 'A')
    },
  },
  {
    method: 'git.setConfig, remoteGet, reset, restore',
    run: async ({ sandbox }) => {
      const git = since(sandbox.git)
      await git.setConfig('core.pager', 'cat', { scope: 'global' })
      equal(await since(git.remoteGet?.bind(git))('/tmp/tour-repo', 'origin'), '/tmp/tour-bare')
      await sandbox.files.write('/tmp/tour-repo/file', 'changed')
      await since(git.restore?.bind(git))('/tmp/tour-repo', { paths: ['file'] })
      equal(await sandbox.files.read('/tmp/tour-repo/file'), '1')
      await sandbox.files.write('/tmp/tour-repo/file', 'changed')
      await since(git.reset?.bind(git))('/tmp/tour-repo', { mode: 'hard' })
      equal(await sandbox.files.read('/tmp/tour-repo/file'), '1')
    },
  },
]
