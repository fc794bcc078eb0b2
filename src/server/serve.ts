import type { FastifyInstance } from 'fastify'
import { tokenStreams } from './access/token-streams.ts'
import { type AppOptions, buildApp } from './app.ts'
import { loginLinks } from './dashboard/links.ts'
import { portLinks } from './inside/port-links.ts'
import { requireSafe, type TcpAddress } from './listen/tcp-address.ts'
import { readTls, type TlsFiles, watchTls } from './listen/tls-files.ts'
import { prepareSocket, shareSocket } from './listen/unix-socket.ts'
import { openAudit } from './observe/audit.ts'
import { metrics } from './observe/metrics.ts'
import type { Observer } from './observe/observer.ts'
import type { Service } from './service.ts'
import { sessions } from './sessions.ts'
import type { Wire } from './wires/wire.ts'
import { buildWireApp } from './wires/wire-app.ts'

export interface ServeOptions {
  readonly socket: string
  readonly listen?: TcpAddress | undefined
  readonly tls?: TlsFiles | undefined
  /** ports inside are also at PORT-ID.DOMAIN */
  readonly domain?: string | undefined
  /** where handles of the daemon itself record what they do on its machine */
  readonly stateDir: string
  readonly auditPath: string
  /** other systems' routes, each on an address of its own */
  readonly wires?: readonly Wire[]
}

export interface Served extends AsyncDisposable {
  /** where it listens, as a client gives it */
  readonly addresses: readonly string[]
}

/** Serves on a Unix socket, and on TCP if asked. Disposing of it answers what is under way, then ends. */
export async function serve(service: Service, options: ServeOptions): Promise<Served> {
  const { listen, tls, wires = [] } = options
  // First, so that whoever asks for what is not safe is told so even where the socket is taken.
  for (const address of [listen, ...wires.map((wire) => wire.listen)]) {
    if (address !== undefined) requireSafe(address, tls === undefined ? 'plain' : 'tls')
  }
  const secrets = tls && readTls(tls)
  await using undo = new AsyncDisposableStack()
  const all = undo.use(sessions(service, options.stateDir))
  const { log } = service
  const audit = undo.use(openAudit(options.auditPath, log))
  const observer: Observer = { audit, metrics: metrics(service), log }
  const streams = undo.use(tokenStreams(service))
  const webAddresses: string[] = []
  const login = { links: loginLinks(), addresses: () => webAddresses }
  const shared = { observer, streams, domain: options.domain, login, portLinks: portLinks() }
  const start = async (app: Pick<AppOptions, 'trust' | 'tls'>) => {
    const built = await buildApp(service, all, { ...app, ...shared })
    undo.defer(() => built.close())
    return built
  }
  const listenOn = async (app: FastifyInstance, address: TcpAddress) => {
    await app.listen(address)
    if (tls) undo.use(watchTls(app.server, tls, log))
    return addressesOf(app, tls === undefined ? 'http' : 'https')
  }
  const addresses = [await listenLocally(await start({ trust: 'open' }), options.socket)]
  if (listen !== undefined) {
    const app = await start({ trust: 'token', ...(secrets && { tls: secrets }) })
    webAddresses.push(...(await listenOn(app, listen)))
    addresses.push(...webAddresses)
  }
  for (const wire of wires) {
    const app = await buildWireApp(
      service,
      all,
      { ...shared, ...(secrets && { tls: secrets }) },
      wire,
    )
    undo.defer(() => app.close())
    addresses.push(...(await listenOn(app, wire.listen)))
  }
  const owned = undo.move()
  return { addresses, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function listenLocally(app: FastifyInstance, socket: string): Promise<string> {
  await prepareSocket(socket)
  await app.listen({ path: socket })
  shareSocket(socket)
  return `unix://${socket}`
}

function addressesOf(app: FastifyInstance, scheme: string): string[] {
  return app.addresses().flatMap((each) => {
    if (typeof each === 'string') return []
    const { address, port, family } = each
    return family === 'IPv6' ? `${scheme}://[${address}]:${port}` : `${scheme}://${address}:${port}`
  })
}
