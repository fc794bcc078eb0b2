import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Forkpoint } from '../../src/index.ts'
import { startDaemon } from '../../src/serve.ts'
import { TestHome } from '../support/test-home.ts'
import { selfSigned } from '../support/through-daemon.ts'

const run = promisify(execFile)

/** Debian's own, which scripts/test-packages gives what it needs; FORKPOINT_PYTHON tries another version. */
export const python = process.env.FORKPOINT_PYTHON ?? '/usr/bin/python3'
export const sdk = resolve(import.meta.dirname, '../../sdk/python')

/** A daemon in this process, on a Unix socket and on TLS, for programs in Python. */
export interface PythonHome extends AsyncDisposable {
  /** for what a test keeps */
  readonly dir: string
  /** tells a program where the daemon is */
  readonly env: Readonly<Record<string, string>>
  readonly fp: Forkpoint
  /** Ends the daemon, and starts another on the same socket. */
  restart(): Promise<void>
}

export async function servePython(purpose: string): Promise<PythonHome> {
  await using undo = new AsyncDisposableStack()
  const home = undo.use(new TestHome(purpose))
  const dir = mkdtempSync('/tmp/fp-python-')
  undo.defer(() => rmSync(dir, { recursive: true, force: true }))
  const tls = selfSigned(dir)
  const start = () =>
    startDaemon({
      open: { settings: { home: home.path, log: 'error' } },
      socket: join(dir, 'socket'),
      listen: { host: '127.0.0.1', port: 0 },
      tls,
      onStop: () => {},
    })
  let served = await start()
  undo.defer(() => served[Symbol.asyncDispose]())
  const [socket = '', url = ''] = served.addresses
  const fp = undo.use(await Forkpoint.connect(socket))
  const { token } = await fp.tokens.create({ scope: 'admin' })
  const env = {
    ...process.env,
    FORKPOINT_HOST: socket,
    FORKPOINT_TEST_URL: url,
    FORKPOINT_TEST_TOKEN: token,
    FORKPOINT_TEST_CA: tls.cert,
    PYTHONDONTWRITEBYTECODE: '1',
  }
  const restart = async () => {
    await served[Symbol.asyncDispose]()
    served = await start()
  }
  const owned = undo.move()
  return { dir, env, fp, restart, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** What a program prints; fails with all that it said. */
export async function said(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  try {
    const { stdout, stderr } = await run(program, args, { timeout: 100_000, ...options })
    return stdout + stderr
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}\n${stderr}`)
  }
}
