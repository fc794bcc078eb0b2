import { check, equal, failure, type Stop, since, soon } from './tour.ts'

/** Commands and terminals. */
export const commandStops: readonly Stop[] = [
  {
    method: 'commands.run',
    run: async ({ sandbox }) => {
      const parts: string[] = []
      const onStdout = (text: string) => void parts.push(text)
      const options = { cwd: '/tmp', envs: { A: 'b' }, onStdout }
      const { stdout, stderr, exitCode } = await sandbox.commands.run(
        'pwd; echo $A; echo problem >&2',
        options,
      )
      equal({ stdout, stderr, exitCode }, { stdout: '/tmp\nb\n', stderr: 'problem\n', exitCode: 0 })
      equal(parts.join(''), stdout)
      const error = (await failure(sandbox.commands.run('exit 3'))) as Error & { exitCode: number }
      equal([error.name, error.exitCode], ['CommandExitError', 3])
      const slow = await failure(sandbox.commands.run('sleep 60', { timeoutMs: 300 }))
      equal(slow.name, 'TimeoutError')
      equal((await sandbox.commands.run('whoami', { user: 'root' })).stdout, 'root\n')
    },
  },
  {
    method: 'commands.run in the background',
    run: async ({ sandbox }) => {
      const command = await sandbox.commands.run('sleep 0.1; echo done', { background: true })
      check(command.pid > 0, String(command.pid))
      equal((await command.wait()).stdout, 'done\n')
    },
  },
  {
    method: 'commands.list',
    run: async ({ sandbox }) => {
      const command = await sandbox.commands.run('sleep 1000', {
        background: true,
        envs: { NAME: 'x' },
        timeoutMs: 0,
      })
      const listed = (await sandbox.commands.list()).find(({ pid }) => pid === command.pid)
      equal(
        { cmd: listed?.cmd, args: listed?.args, envs: listed?.envs },
        { cmd: '/bin/bash', args: ['-l', '-c', 'sleep 1000'], envs: { NAME: 'x' } },
      )
      await command.kill()
    },
  },
  {
    method: 'commands.kill',
    run: async ({ sandbox }) => {
      const command = await sandbox.commands.run('sleep 1000', { background: true })
      equal(await sandbox.commands.kill(command.pid), true)
      const error = await failure(command.wait())
      check(/signal: killed/.test(error.message), error.message)
      equal(await sandbox.commands.kill(999_999), false)
    },
  },
  {
    method: 'commands.sendStdin, closeStdin',
    run: async ({ sandbox }) => {
      const command = await sandbox.commands.run('cat', { background: true, stdin: true })
      await sandbox.commands.sendStdin(command.pid, 'typed')
      const close = since(sandbox.commands.closeStdin?.bind(sandbox.commands))
      await close(command.pid)
      equal((await command.wait()).stdout, 'typed')
    },
  },
  {
    method: 'commands.connect',
    run: async ({ sandbox }) => {
      const begun = 'echo early; read line; echo got $line'
      const command = await sandbox.commands.run(begun, { background: true, stdin: true })
      await soon('the first line', () => command.stdout === 'early\n')
      const second = await sandbox.commands.connect(command.pid)
      await sandbox.commands.sendStdin(command.pid, 'it\n')
      // Whoever comes later gets everything, and the first one misses nothing.
      equal((await second.wait()).stdout, 'early\ngot it\n')
      equal((await command.wait()).stdout, 'early\ngot it\n')
    },
  },
  {
    method: 'handle.disconnect',
    run: async ({ sandbox }) => {
      const command = await sandbox.commands.run('read x; echo $x', {
        background: true,
        stdin: true,
        timeoutMs: 0,
      })
      await command.disconnect()
      const again = await sandbox.commands.connect(command.pid)
      await sandbox.commands.sendStdin(command.pid, 'still here\n')
      equal((await again.wait()).stdout, 'still here\n')
    },
  },
  {
    method: 'pty.create, sendInput, resize, kill',
    run: async ({ sandbox }) => {
      let seen = ''
      const onData = (data: Uint8Array) => {
        seen += Buffer.from(data).toString()
      }
      const terminal = await sandbox.pty.create({ cols: 80, rows: 24, onData })
      await sandbox.pty.resize(terminal.pid, { cols: 101, rows: 33 })
      await sandbox.pty.sendInput(terminal.pid, Buffer.from('stty size; echo $((6*7))\n'))
      await soon('the size', () => seen.includes('33 101') && seen.includes('42'))
      equal(await sandbox.pty.kill(terminal.pid), true)
      await failure(terminal.wait())
    },
  },
  {
    method: 'pty.connect',
    run: async ({ sandbox }) => {
      const terminal = await sandbox.pty.create({ cols: 80, rows: 24, onData: () => {} })
      await sandbox.pty.sendInput(terminal.pid, Buffer.from('echo be""fore\n'))
      await terminal.disconnect()
      let seen = ''
      const onData = (data: Uint8Array) => {
        seen += Buffer.from(data).toString()
      }
      const connect = since(sandbox.pty.connect?.bind(sandbox.pty))
      await connect(terminal.pid, { onData })
      await soon('the screen', () => seen.includes('before'))
      await sandbox.pty.kill(terminal.pid)
    },
  },
]
