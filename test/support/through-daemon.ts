import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Forkpoint, type OpenOptions } from '../../src/index.ts'
import { startDaemon } from '../../src/serve.ts'

type Wire = 'unix' | 'tls'

/** `Forkpoint.connect` to a daemon of its own, which ends when it is closed. */
export async function openThroughDaemon(
  settings: NonNullable<OpenOptions['settings']>,
  wire: Wire,
): Promise<Forkpoint> {
  const dir = mkdtempSync(join(tmpdir(), 'fp-daemon-'))
  const tls = wire === 'tls' ? selfSigned(dir) : undefined
  const served = await startDaemon({
    open: { settings: { log: 'error', ...settings } },
    socket: join(dir, 'socket'),
    listen: tls && { host: '127.0.0.1', port: 0 },
    tls,
    onStop: () => {},
  })
  const fp = await connect(served.addresses, tls?.cert)
  const close = fp.close.bind(fp)
  return Object.assign(fp, {
    close: async () => {
      await close()
      await served[Symbol.asyncDispose]()
      rmSync(dir, { recursive: true, force: true })
    },
  })
}

async function connect(
  [socket = '', secure]: readonly string[],
  cert: string | undefined,
): Promise<Forkpoint> {
  if (secure === undefined || cert === undefined) return await Forkpoint.connect(socket)
  await using local = await Forkpoint.connect(socket)
  const { token } = await local.tokens.create({ scope: 'admin' })
  return await Forkpoint.connect(secure, { token, ca: readFileSync(cert, 'utf8') })
}

/** A certificate for this machine, and its key. */
export function selfSigned(dir: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-days', '2', '-subj', '/CN=localhost', '-keyout', key, '-out', cert],
      ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ],
    { stdio: 'pipe' },
  )
  return { cert, key }
}
