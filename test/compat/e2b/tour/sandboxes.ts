import type { Sandbox } from 'e2b'
import { check, equal, failure, type Stop, since } from './tour.ts'

/** The control plane: sandboxes as a whole. */
export const sandboxStops: readonly Stop[] = [
  {
    method: 'Sandbox.create',
    run: async ({ sandbox }) => {
      check(/^e[0-9a-z]{11}$/.test(sandbox.sandboxId), sandbox.sandboxId)
      equal((await sandbox.commands.run('echo $GREETING')).stdout, 'hello\n')
    },
  },
  {
    method: 'Sandbox.connect',
    run: async ({ e2b, sandbox }) => {
      const same = await e2b.Sandbox.connect(sandbox.sandboxId)
      equal((await same.commands.run('pwd')).stdout, '/home/user\n')
      const error = await failure(e2b.Sandbox.connect('e00000000000'))
      check(/not found/.test(error.message), error.message)
    },
  },
  {
    method: 'Sandbox.list',
    run: async ({ e2b, sandbox, kept }) => {
      const metadata = { tour: String(kept.get('name')) }
      const other = await e2b.Sandbox.create({ metadata })
      try {
        const pages = e2b.Sandbox.list({ query: { metadata, state: ['running'] }, limit: 1 })
        const found: string[] = []
        while (pages.hasNext) found.push(...(await pages.nextItems()).map((each) => each.sandboxId))
        equal(found.sort(), [sandbox.sandboxId, other.sandboxId].sort())
        const paused = e2b.Sandbox.list({ query: { metadata, state: ['paused'] } })
        equal(await paused.nextItems(), [])
      } finally {
        await other.kill()
      }
    },
  },
  {
    method: 'sandbox.getInfo',
    run: async ({ sandbox, kept }) => {
      const { sandboxId, state, metadata, endAt, startedAt, templateId } = await sandbox.getInfo()
      equal(
        { sandboxId, state, metadata, templateId },
        {
          sandboxId: sandbox.sandboxId,
          state: 'running',
          metadata: { tour: kept.get('name') },
          templateId: 'base',
        },
      )
      check(endAt.getTime() > startedAt.getTime(), 'it ends before it starts')
    },
  },
  {
    method: 'sandbox.isRunning',
    run: async ({ sandbox }) => equal(await sandbox.isRunning(), true),
  },
  {
    method: 'sandbox.setTimeout',
    run: async ({ sandbox }) => {
      await sandbox.setTimeout(600_000)
      const { endAt } = await sandbox.getInfo()
      check(Math.abs(endAt.getTime() - Date.now() - 600_000) < 30_000, String(endAt))
    },
  },
  {
    method: 'sandbox.getMetrics',
    run: async ({ sandbox }) => {
      const [now] = await sandbox.getMetrics()
      check(now && now.memUsed > 0 && now.memTotal > now.memUsed, JSON.stringify(now))
    },
  },
  {
    method: 'sandbox.updateNetwork (no change)',
    run: async ({ sandbox }) => {
      const update = since(sandbox.updateNetwork?.bind(sandbox))
      await update({ allowInternetAccess: true })
    },
  },
  {
    method: 'sandbox.updateNetwork',
    run: async ({ sandbox }) => {
      const update = since(sandbox.updateNetwork?.bind(sandbox))
      const links = async () => (await sandbox.commands.run('echo $(ls /sys/class/net)')).stdout
      await update({ allowInternetAccess: false })
      check((await links()) === 'lo\n', await links())
      await update({ allowInternetAccess: true })
      check((await links()) === 'eth0 lo\n', await links())
    },
  },
  {
    method: 'sandbox.updateNetwork (addresses)',
    run: async ({ sandbox }) => {
      const update = since(sandbox.updateNetwork?.bind(sandbox))
      const lists = { denyOut: ['0.0.0.0/0'], allowOut: ['192.0.2.1', '198.51.100.0/24'] }
      await update(lists)
      const { network } = await sandbox.getInfo()
      const { allowPublicTraffic, allowOut, denyOut } = network ?? {}
      equal({ allowPublicTraffic, denyOut, allowOut }, { allowPublicTraffic: true, ...lists })
      await update({})
      equal((await sandbox.getInfo()).network, undefined)
    },
  },
  {
    method: 'sandbox.updateNetwork (names of domains)',
    refused: /the name of a domain/,
    run: async ({ sandbox }) => {
      const update = since(sandbox.updateNetwork?.bind(sandbox))
      await update({ denyOut: ['0.0.0.0/0'], allowOut: ['*.example.com'] })
    },
  },
  {
    method: 'sandbox.fork',
    run: async ({ sandbox }) => {
      const fork = since(sandbox.fork?.bind(sandbox))
      await sandbox.files.write('/srv/both', 'before')
      const ticker = await sandbox.commands.run('i=0; while sleep 0.05; do echo $((i+=1)); done', {
        background: true,
        timeoutMs: 0,
      })
      let seen = ''
      const terminal = await sandbox.pty.create({ cols: 80, rows: 24, onData: () => {} })
      await sandbox.pty.sendInput(terminal.pid, Buffer.from('X=typed-before\n'))
      const [copy] = (await fork({ timeoutMs: 60_000 })) as Sandbox[]
      check(copy !== undefined && !(copy instanceof Error), String(copy))
      await sandbox.files.write('/srv/both', 'after')
      equal(await copy.files.read('/srv/both'), 'before')
      // Beyond the original: its processes and terminals go on.
      check(
        (await copy.commands.list()).some(({ pid }) => pid === ticker.pid),
        'no process',
      )
      const onData = (data: Uint8Array) => {
        seen += Buffer.from(data).toString()
      }
      await copy.pty.connect(terminal.pid, { onData })
      await copy.pty.sendInput(terminal.pid, Buffer.from('echo $X-$((40+2))\n'))
      for (const end = Date.now() + 20_000; !seen.includes('typed-before-42'); ) {
        if (Date.now() > end) throw new Error(`the terminal shows ${JSON.stringify(seen)}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      await Promise.all([copy.kill(), ticker.kill(), sandbox.pty.kill(terminal.pid)])
    },
  },
  {
    method: 'sandbox.createSnapshot',
    run: async ({ e2b, sandbox, kept }) => {
      const take = since(sandbox.createSnapshot?.bind(sandbox))
      await sandbox.files.write('/tmp/state', 'kept')
      const { snapshotId } = await take()
      kept.set('snapshot', snapshotId)
      await sandbox.files.write('/tmp/state', 'lost')
      const copy = await e2b.Sandbox.create(snapshotId, { envs: { MORE: 'yes' } })
      equal(await copy.files.read('/tmp/state'), 'kept')
      equal((await copy.commands.run('echo $GREETING $MORE')).stdout, 'hello yes\n')
      await copy.kill()
    },
  },
  {
    method: 'sandbox.listSnapshots',
    run: async ({ sandbox, kept }) => {
      const list = since(sandbox.listSnapshots?.bind(sandbox))
      const rows = await list().nextItems()
      check(
        rows.some(({ snapshotId }) => snapshotId === kept.get('snapshot')),
        'not listed',
      )
    },
  },
  {
    method: 'Sandbox.deleteSnapshot',
    run: async ({ e2b, sandbox }) => {
      const remove = since(e2b.Sandbox.deleteSnapshot?.bind(e2b.Sandbox))
      const { snapshotId } = await sandbox.createSnapshot()
      equal(await remove(snapshotId), true)
      equal(await remove(snapshotId), false)
      const rows = await sandbox.listSnapshots().nextItems()
      check(!rows.some((each) => each.snapshotId === snapshotId), 'it is still listed')
      const error = await failure(e2b.Sandbox.create(snapshotId))
      check(/not found/.test(error.message), error.message)
    },
  },
  {
    method: 'sandbox.pause',
    run: async ({ e2b, sandbox }) => {
      const pause = since(sandbox.pause?.bind(sandbox))
      const process = await sandbox.commands.run('sleep 1000', { background: true, timeoutMs: 0 })
      await pause()
      equal(await sandbox.isRunning(), false)
      equal((await sandbox.getInfo()).state, 'paused')
      const again = await e2b.Sandbox.connect(sandbox.sandboxId)
      equal(await again.isRunning(), true)
      check(
        (await again.commands.list()).some(({ pid }) => pid === process.pid),
        'no process',
      )
      equal(await again.commands.kill(process.pid), true)
    },
  },
  {
    method: 'Sandbox.fork of a paused sandbox',
    run: async ({ e2b }) => {
      since(e2b.Sandbox.fork)
      const paused = await e2b.Sandbox.create()
      await paused.commands.run('echo 1 > /tmp/one')
      await paused.pause()
      const [copy] = (await paused.fork()) as Sandbox[]
      check(copy !== undefined && !(copy instanceof Error), String(copy))
      equal(await copy.files.read('/tmp/one'), '1\n')
      equal((await paused.getInfo()).state, 'paused')
      await Promise.all([copy.kill(), paused.kill()])
    },
  },
  {
    method: 'sandbox.getHost',
    run: async ({ sandbox }) => {
      const host = sandbox.getHost(8123)
      check(host.startsWith(`8123-${sandbox.sandboxId}.`), host)
    },
  },
  {
    method: 'sandbox.downloadUrl',
    run: async ({ sandbox }) => {
      await sandbox.files.write('/tmp/down load', 'content')
      const url = await sandbox.downloadUrl('/tmp/down load', { useSignatureExpiration: 60 })
      equal(await (await fetch(url)).text(), 'content')
      equal((await fetch(url.replace('down', 'up'))).status, 401)
    },
  },
  {
    method: 'sandbox.uploadUrl',
    run: async ({ sandbox }) => {
      const form = new FormData()
      form.append('file', new Blob(['uploaded']), 'ignored')
      const url = await sandbox.uploadUrl('/tmp/up')
      equal((await fetch(url, { method: 'POST', body: form })).status, 200)
      equal(await sandbox.files.read('/tmp/up'), 'uploaded')
    },
  },
  {
    method: 'Template.build',
    refused: /building a template is not available with Forkpoint/,
    run: async ({ e2b }) => {
      const template = e2b.Template().fromImage('debian')
      await e2b.Template.build(template, 'mine', { cpuCount: 1, memoryMB: 512 })
    },
  },
  {
    method: 'Volume.create',
    refused: /volumes is not available with Forkpoint/,
    run: async ({ e2b }) => void (await since(e2b.Volume).create('data')),
  },
]

/** Last, because nothing comes after it. */
export const lastStops: readonly Stop[] = [
  {
    method: 'sandbox.kill',
    run: async ({ e2b, sandbox }) => {
      // 2.20 answers nothing.
      equal((await sandbox.kill()) ?? true, true)
      equal(await sandbox.isRunning(), false)
      equal(await e2b.Sandbox.kill(sandbox.sandboxId), false)
    },
  },
]
