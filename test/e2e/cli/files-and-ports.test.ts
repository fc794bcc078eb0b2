import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { CliHome, finished, firstLine } from './cli-home.ts'

let cli: CliHome

beforeAll(async () => {
  cli = new CliHome()
  await cli.must('create', '--name', 'web')
})
afterAll(() => cli[Symbol.asyncDispose]())

describe('cp', () => {
  test('copies a file in and out unchanged', async () => {
    using files = new TemporaryDirectory()
    const content = randomBytes(1_000_000)
    writeFileSync(files.file('in'), content)
    await cli.must('cp', files.file('in'), 'web:/root/there')
    await cli.must('cp', 'web:/root/there', files.file('out'))
    expect(readFileSync(files.file('out')).equals(content)).toBe(true)
  })

  test('copies a directory into an existing one, under its own name', async () => {
    using files = new TemporaryDirectory()
    mkdirSync(files.file('app/lib'), { recursive: true })
    writeFileSync(files.file('app/lib/a.txt'), 'a')
    await cli.must('cp', files.file('app'), 'web:/srv')
    expect(await cli.must('exec', 'web', '--', 'cat /srv/app/lib/a.txt')).toBe('a')
    await cli.must('cp', files.file('app'), 'web:/root/new-name')
    expect(await cli.must('exec', 'web', '--', 'cat /root/new-name/lib/a.txt')).toBe('a')
    mkdirSync(files.file('back'))
    const { document } = await cli.json('cp', 'web:/srv/app', files.file('back'))
    expect(document).toMatchObject({ host: files.file('back/app'), files: 1, directories: 2 })
    expect(readFileSync(files.file('back/app/lib/a.txt'), 'utf8')).toBe('a')
  })

  test('refuses to go through a symlink of this machine, and names the real path', async () => {
    using files = new TemporaryDirectory()
    for (const name of ['out', 'real']) mkdirSync(files.file(name))
    await cli.must('exec', 'web', '--', `mkdir -p /p && ln -sfn ${files.file('real')} /p/sub`)
    await cli.must('cp', 'web:/p', files.file('out/'))
    await cli.must('exec', 'web', '--', 'rm /p/sub && mkdir /p/sub && echo evil > /p/sub/x')
    for (const into of ['out/p/', 'out/p/sub', 'out/p/sub/']) {
      const ran = await cli.run(['cp', 'web:/p/sub', files.file(into)])
      expect(ran).toMatchObject({
        exitCode: 4,
        stderr: expect.stringContaining(files.file('real')),
      })
    }
    expect(readdirSync(files.file('real'))).toEqual([])
    await cli.must('cp', 'web:/p/sub', files.file('real'))
    expect(readFileSync(files.file('real/sub/x'), 'utf8')).toBe('evil\n')
  })

  test('takes host paths relative to the current directory', async () => {
    using files = new TemporaryDirectory()
    writeFileSync(files.file('here'), 'x')
    const into = await cli.run(['cp', 'here', 'web:/tmp/'], { cwd: files.path })
    expect(into).toMatchObject({ exitCode: 0, stdout: '' })
    await cli.run(['cp', 'web:/tmp/here', './back'], { cwd: files.path })
    expect(readFileSync(files.file('back'), 'utf8')).toBe('x')
  })
})

describe('port', () => {
  const server = `python3 -c '
import socket
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", 8123)); s.listen()
while True:
    c, _ = s.accept(); c.sendall(b"hello from inside\\n"); c.close()
'`

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'carries connections to a port inside until %s',
    async (signal) => {
      await cli.must('exec', 'web', '--process', '--detach', '--', `${server} || true`)
      const forward = cli.start(['port', 'web', '8123'])
      const ended = finished(forward)
      const address = await new Promise<string>((resolve) => {
        forward.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()))
      })
      expect(address).toMatch(/^127\.0\.0\.1:\d+$/)
      expect(await readFrom(address)).toBe('hello from inside\n')
      forward.kill(signal)
      expect(await ended).toMatchObject({ exitCode: 0, stderr: '' })
      await expect(readFrom(address)).rejects.toThrow('ECONNREFUSED')
    },
  )

  test('--json prints one document with the address first', async () => {
    const forward = cli.start(['port', 'web', '8123', '--listen', '127.0.0.1:0', '--json'])
    const ended = finished(forward)
    await new Promise((resolve) => forward.stdout?.once('data', resolve))
    forward.kill('SIGTERM')
    const document = JSON.parse((await ended).stdout)
    expect(document).toMatchObject({ name: 'web', port: 8123, host: '127.0.0.1' })
    expect(document.address).toBe(`127.0.0.1:${document.listenPort}`)
  })

  test('fails with exit code 4 if the address is in use', async () => {
    const first = cli.start(['port', 'web', '8123'])
    const address = await firstLine(first)
    const second = await cli.run(['port', 'web', '8123', '--listen', address])
    expect(second).toMatchObject({ exitCode: 4, stderr: expect.stringContaining(address) })
    first.kill('SIGTERM')
  })
})

/** All that a server says; several tries while it starts. */
async function readFrom(address: string): Promise<string> {
  const [host = '', port] = address.split(':')
  for (let attempt = 0; ; attempt++) {
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect({ host, port: Number(port) })
      let received = ''
      socket.on('data', (chunk) => {
        received += chunk.toString()
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(received))
    })
    if (text !== '' || attempt === 50) return text
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
