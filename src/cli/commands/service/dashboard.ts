import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Address, parseAddress } from '../../../client/address.ts'
import { askForLink } from '../../../client/login-link.ts'
import { NotFoundError, PrerequisiteError } from '../../../model/errors.ts'
import { parseAge } from '../../../model/values/quantities.ts'
import { type Scope, scopes } from '../../../model/values/scopes.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { pairsOption, parsedOption } from '../../arguments/options.ts'
import { parseScopes } from '../../arguments/scopes.ts'
import { bootstrap } from '../../bootstrap.ts'
import type { Context } from '../../context.ts'
import { addExamples } from '../../help.ts'
import { chosenHost } from '../../hosts/chosen-host.ts'
import type { MakeCommand } from '../../make-command.ts'

interface Options {
  readonly print?: true
  readonly scope?: Scope
  readonly expires?: number
  readonly label?: Readonly<Record<string, string>>
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Open the dashboard of a daemon in a browser. The link logs in once, within two minutes.',
      )
      .option('--print', 'only print the link')
      .addOption(
        parsedOption(
          '--scope <scopes>',
          `what the page may do: ${scopes.join(', ')} (default: admin)`,
          parseScopes,
        ),
      )
      .addOption(
        parsedOption(
          '--expires <age>',
          'how long the page stays logged in (default: 12h)',
          parseAge,
        ),
      )
      .addOption(pairsOption('--label <key=value>', 'only environments with this label'))
      .action((options: Options, self) =>
        cli.perform(self, async (context) => {
          const made = await makeLink(context, options)
          const isOpened = !options.print && (await openInBrowser(made.url))
          await context.show({
            json: { ...made, opened: isOpened },
            text: () => (isOpened ? 'opened in your browser' : made.url),
          })
        }),
      ),
    [
      ['forkpoint serve --detach --listen 127.0.0.1:7070', 'first, a daemon that browsers reach'],
      ['forkpoint dashboard', 'open it'],
      ['forkpoint dashboard --print --scope read', 'a link for somebody who may only look'],
    ],
  )

interface Made {
  readonly url: string
  readonly expiresAt: number
}

async function makeLink(context: Context, options: Options): Promise<Made> {
  const host = await chosenHost(context.globals)
  if (host === null) throw noDaemon()
  const { address, ...transport } = host
  const daemon = parseAddress(address)
  // Of another machine, the page is built there.
  if (daemon.kind === 'unix') await bootstrap(context, ['web'])
  const wanted = withoutUndefined({
    scope: options.scope,
    labels: options.label,
    expiresMs: options.expires,
  })
  const { code, expiresAt, addresses } = await askForLink(daemon, transport, wanted)
  return { url: `${pageAddress(daemon, addresses)}/#login=${code}`, expiresAt }
}

/** Where a browser on this machine reaches the daemon. */
function pageAddress(daemon: Address, addresses: readonly string[]): string {
  if (daemon.kind === 'tcp') return daemon.url.origin
  const [first] = addresses
  if (first === undefined) throw notListening()
  const url = new URL(first)
  // A daemon that listens everywhere also listens here.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.hostname === '[::]') url.hostname = '[::1]'
  return url.origin
}

const serveCommand = '`forkpoint serve --detach --listen 127.0.0.1:7070`'

function noDaemon(): NotFoundError {
  return new NotFoundError('no daemon runs for this home', {
    remedy: `start one that browsers reach: ${serveCommand}`,
  })
}

function notListening(): PrerequisiteError {
  return new PrerequisiteError(
    'the daemon only listens on its Unix socket, which browsers cannot open',
    { remedy: `\`forkpoint serve --stop\`, then ${serveCommand}; environments keep running` },
  )
}

/** Whether a browser took it; without a desktop there is none. */
async function openInBrowser(url: string): Promise<boolean> {
  const { DISPLAY, WAYLAND_DISPLAY, BROWSER } = process.env
  if (!DISPLAY && !WAYLAND_DISPLAY && !BROWSER) return false
  const opener = spawn('xdg-open', [url], { stdio: 'ignore', detached: true })
  opener.unref()
  const failed = once(opener, 'error').then(() => null)
  const ended = once(opener, 'exit').then(([code]) => code)
  return (await Promise.race([failed, ended])) === 0
}
