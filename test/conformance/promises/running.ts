import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { capabilityOf } from '../../../src/model/capabilities.ts'
import type { SourceRequest } from '../../../src/model/environment.ts'
import { InvalidInputError } from '../../../src/model/errors.ts'
import type { Subject } from '../subject.ts'
import { at, type BackendPromise, run } from './promise.ts'

const server = `
import os, socket
s = socket.create_server(('127.0.0.1', 0))
open('port.new', 'w').write(str(s.getsockname()[1])); os.rename('port.new', 'port')
while True:
    with s.accept()[0] as client: client.sendall(b'hello')
`

/** Starts as many as it can, up to 200, and prints how many. */
const manyProcesses = `
import os, time
count = 0
try:
    while count < 200:
        if os.fork() == 0:
            time.sleep(1)
            os._exit(0)
        count += 1
except OSError:
    pass
print(count)
`

const otherSources = [
  'host',
  'dir',
  'rootfs',
  'image',
  'dockerfile',
  'oci',
  'archive',
  'container',
] as const

type OtherSource = (typeof otherSources)[number]

function startsFrom(kind: OtherSource): BackendPromise {
  return {
    title: `environments start from ${kind} if the backend can`,
    needs: [capabilityOf({ kind })],
    asks: (subject) => subject.create({ from: sourceOf(kind, subject) }),
    keeps: async (subject) => {
      const env = await subject.create({ from: sourceOf(kind, subject) })
      assert.equal(await run(env, 'echo here'), 'here\n')
    },
  }
}

function sourceOf(
  kind: OtherSource,
  { workspace, rootfs, image, dockerfile, oci, archive, container }: Subject,
): SourceRequest {
  switch (kind) {
    case 'host':
      return { kind }
    case 'dir':
      return { kind, path: workspace }
    case 'rootfs':
      return { kind, path: rootfs }
    case 'image':
      return { kind, ref: image }
    case 'dockerfile':
      return { kind, dir: dockerfile }
    case 'oci':
      return { kind, path: oci }
    case 'archive':
      return { kind, path: archive }
    case 'container':
      return { kind, name: container }
  }
}

/** Environments start, run commands and can be reached. */
export const running: readonly BackendPromise[] = [
  {
    title: 'an environment starts in its workspace and runs commands',
    needs: [],
    keeps: async (subject) => {
      const env = await subject.create({ env: { COLOUR: 'blue' } })
      assert.equal(await run(env, 'cat given.txt; echo $COLOUR'), 'given\nblue\n')
      assert.equal((await env.exec('exit 3')).exitCode, 3)
      await run(env, 'mkdir -p deep && cd deep && kept=yes')
      assert.match(await run(env, 'pwd; echo $kept'), /deep\nyes\n$/)
    },
  },
  {
    title: 'a program given at create runs in the workspace',
    needs: [],
    keeps: async (subject) => {
      const command = ['/bin/sh', '-c', 'cat given.txt > started; exec sleep 1000']
      const env = await subject.create({ command })
      assert.deepEqual((await env.info()).command, command)
      assert.equal(
        await run(env, 'until [ -s started ]; do sleep 0.05; done; cat started'),
        'given\n',
      )
      const [started] = await env.commands()
      assert.equal(started?.id, 'command')
      assert.equal(started.running, true)
      await assert.rejects(subject.create({ command: ['/no/such/program'] }), { code: 'not_found' })
    },
  },
  {
    title: 'files inside are written, read, listed and removed',
    needs: [],
    keeps: async (subject) => {
      const env = await subject.create()
      const note = at(env, 'note.txt')
      await env.files.write(note, 'from outside')
      assert.equal(await run(env, 'cat note.txt'), 'from outside')
      assert.equal((await env.files.read(note)).toString(), 'from outside')
      const listed = await env.files.list(env.lastInfo.workdir)
      assert.ok(listed.some(({ name }) => name === 'note.txt'))
      await env.files.remove(note)
      assert.equal((await env.exec('cat note.txt')).exitCode, 1)
    },
  },
  {
    title: "changes inside do not reach the host's workspace",
    needs: [],
    keeps: async (subject) => {
      const one = await subject.create()
      await run(one, 'echo changed > given.txt')
      const other = await subject.create()
      assert.equal(await run(other, 'cat given.txt'), 'given\n')
    },
  },
  {
    title: "an environment's processes, memory and files are counted",
    needs: [],
    keeps: async (subject) => {
      const env = await subject.create()
      await run(env, 'head -c 100000 /dev/urandom > block; sleep 1000 &')
      const stats = await env.stats()
      assert.ok(stats.processes >= 2)
      assert.ok(stats.memory.totalBytes > 0)
      assert.ok(stats.diskBytes >= 100_000)
    },
  },
  {
    title: 'an environment can be renamed while it runs',
    needs: [],
    keeps: async (subject) => {
      const env = await subject.create({ name: 'old' })
      await env.rename('new')
      assert.equal(env.name, 'new')
      assert.equal(await run(env, 'echo here'), 'here\n')
    },
  },
  {
    title: 'a limit on processes holds',
    needs: ['limits'],
    asks: (subject) => subject.create({ limits: { pids: 64 } }),
    keeps: async (subject) => {
      const env = await subject.create({ limits: { pids: 64 } })
      assert.equal((await env.stats()).processLimit, 64)
      const { stdout } = await env.exec(['python3', '-c', manyProcesses], { mode: 'process' })
      assert.ok(Number(stdout) > 10 && Number(stdout) < 64, stdout)
    },
  },
  {
    title: 'an environment with its own network reaches its own addresses',
    needs: ['nat'],
    asks: (subject) => subject.create({ net: 'nat' }),
    keeps: async (subject) => {
      const env = await subject.create({ net: 'nat' })
      assert.match(await run(env, 'cat /proc/net/route'), /00000000/)
    },
  },
  {
    title: 'a port inside can be reached from the host',
    needs: ['ports'],
    asks: async (subject) => (await subject.create()).ports.forward(80),
    keeps: async (subject) => {
      const env = await subject.create()
      await env.spawn(['python3', '-c', server], { mode: 'process' })
      const port = Number(await run(env, 'until [ -s port ]; do sleep 0.05; done; cat port'))
      await using forward = await env.ports.forward(port)
      assert.equal(await text(connect(forward.port, '127.0.0.1')), 'hello')
    },
  },
  ...otherSources.map(startsFrom),
  {
    title: 'an unknown backend is refused, with the known ones',
    needs: [],
    keeps: async (subject) => {
      await assert.rejects(subject.create({ backend: 'abacus' }), (error) => {
        assert.ok(error instanceof InvalidInputError)
        assert.match(error.remedy ?? '', /^use one of: \w/)
        return true
      })
    },
  },
]
