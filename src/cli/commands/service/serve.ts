import { daemonSocket } from '../../../config/daemon-socket.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { loadGlobalSettings } from '../../arguments/globals.ts'
import type { Context } from '../../context.ts'
import { addExamples } from '../../help.ts'
import { withOwnErrors } from '../../hosts/daemon-bundle.ts'
import { detachDaemon, stopDaemon } from '../../hosts/daemon-process.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'

/** How long requests that are under way may take to end. */
const drainMs = 20_000

const forkdAddress = '127.0.0.1:8889'
const e2bAddress = '127.0.0.1:7071'

interface Options {
  readonly socket?: string
  readonly listen?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly domain?: string
  readonly forkd?: string | true
  readonly e2b?: string | true
  readonly detach?: true
  readonly stop?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Serve this home to many clients: on a Unix socket, and over the network with tokens.',
      )
      .option('--socket <path>', 'the Unix socket (default: the one where commands look for it)')
      .option('--listen <addr:port>', 'also listen on TCP, where every request needs a token')
      .option('--tls-cert <file>', 'certificate for TCP; required beyond this machine')
      .option('--tls-key <file>', 'its key')
      .option('--domain <name>', 'serve ports inside at PORT-ID.NAME')
      .option(
        '--forkd [addr:port]',
        `serve clients of forkd, with tokens (default: ${forkdAddress})`,
      )
      .option(
        '--e2b [addr:port]',
        `serve clients of E2B, with keys of \`token create --e2b\` (default: ${e2bAddress})`,
      )
      .option('--detach', 'start it in the background, and return when it answers')
      .option('--stop', 'end the daemon of this home; environments keep running')
      .action((options: Options, self) =>
        cli.perform(self, async (context) => {
          const { home } = loadGlobalSettings(context.globals).settings
          const socket = options.socket ?? daemonSocket(home)
          if (options.stop) {
            await context.wait('ending the daemon', () => stopDaemon(socket))
            await context.show({ json: { socket, stopped: true }, text: () => 'stopped' })
            return
          }
          if (options.detach) {
            const started = await context.wait('starting the daemon', () =>
              detachDaemon(home, socket),
            )
            await context.show({ json: started, text: () => started.addresses.join('\n') })
            return
          }
          await withOwnErrors(() => serveHere(context, socket, options))
        }),
      ),
    [
      ['forkpoint serve --detach', 'commands use it by themselves from now on'],
      [
        'forkpoint serve --listen 0.0.0.0:7070 --tls-cert cert.pem --tls-key key.pem',
        'for other machines',
      ],
      ['forkpoint serve --stop', 'end it; environments keep running'],
    ],
  )

async function serveHere(context: Context, socket: string, options: Options): Promise<void> {
  const stopped = Promise.withResolvers<void>()
  using interrupts = new Interrupts()
  // The launcher set it for this process, not for those that it starts.
  delete process.env.MALLOC_ARENA_MAX
  const { parseTcpAddress, startDaemon } = await import('../../../serve.ts')
  const forkd = options.forkd === true ? forkdAddress : options.forkd
  const e2b = options.e2b === true ? e2bAddress : options.e2b
  await using daemon = await startDaemon({
    open: context.openOptions,
    socket,
    listen: options.listen === undefined ? undefined : parseTcpAddress(options.listen),
    tls: tlsOf(options),
    domain: options.domain,
    forkd: forkd === undefined ? undefined : parseTcpAddress(forkd),
    e2b: e2b === undefined ? undefined : parseTcpAddress(e2b),
    onStop: stopped.resolve,
  })
  const { addresses } = daemon
  await context.show({
    json: { pid: process.pid, addresses },
    text: () => addresses.join('\n'),
  })
  await Promise.race([interrupts.arrived, stopped.promise])
  // Requests that are under way are answered first, but not forever: the next daemon recovers them.
  setTimeout(() => process.exit(), drainMs).unref()
}

function tlsOf({ tlsCert: cert, tlsKey: key }: Options) {
  if (cert === undefined && key === undefined) return undefined
  if (cert !== undefined && key !== undefined) return { cert, key }
  throw new InvalidInputError('--tls-cert and --tls-key belong together', {
    remedy: 'give both',
  })
}
