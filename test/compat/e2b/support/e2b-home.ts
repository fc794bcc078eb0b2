import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Forkpoint, TokenOptions } from '../../../../src/index.ts'
import { DaemonProcess } from '../../../service/support/daemon-process.ts'

const execute = promisify(execFile)

/** `forkpoint serve --e2b`, as a user starts it. */
export interface E2bHome extends AsyncDisposable {
  readonly url: string
  /** through the Unix socket */
  readonly fp: Forkpoint
  key(options?: Omit<TokenOptions, 'form'>): Promise<string>
  /** Runs a program of a user with the three variables that it needs, and resolves to what it prints. */
  run(file: string, args: readonly string[], key: string): Promise<string>
}

export async function serveE2b(variables: Readonly<Record<string, string>> = {}): Promise<E2bHome> {
  const daemon = new DaemonProcess()
  const [, url = ''] = await daemon.start(variables, '--e2b', '127.0.0.1:0')
  const fp = await daemon.connect()
  return {
    url,
    fp,
    key: async (options = {}) => (await fp.tokens.create({ ...options, form: 'e2b' })).token,
    run: async (file, args, key) => {
      const words = ['--disable-warning=ExperimentalWarning', file, ...args]
      const own = { E2B_API_URL: url, E2B_SANDBOX_URL: url, E2B_API_KEY: key }
      const env = { ...process.env, ...own }
      try {
        return (await execute(process.execPath, words, { env, timeout: 280_000 })).stdout
      } catch (error) {
        // How far it came says more than that it failed.
        const { stdout, stderr } = error as Error & { stdout: string; stderr: string }
        throw new Error(`${words.join(' ')} failed: ${stdout.slice(-500)} ${stderr}`)
      }
    },
    [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
  }
}
