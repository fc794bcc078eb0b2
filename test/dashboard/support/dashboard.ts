import { existsSync } from 'node:fs'
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Page,
  type Request,
} from 'playwright-core'
import type { Forkpoint } from '../../../src/index.ts'
import { DaemonProcess } from '../../service/support/daemon-process.ts'

const program = '/usr/bin/chromium'

/** The browser must reach nothing but the daemon, and runs as root. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Why no browser can be started here; null: one can. */
export function noBrowser(): string | null {
  return existsSync(program) ? null : `no ${program}; scripts/test-packages installs it`
}

/** With this, Chromium ends what it is loading when other tests make or remove a network interface. */
const networkChanged = 'net::ERR_NETWORK_CHANGED'

function isCut(request: Request): boolean {
  return request.failure()?.errorText === networkChanged
}

type ContextOptions = Parameters<Browser['newContext']>[0]

/** A real daemon in a process of its own, and a real browser that looks at it. */
export class Dashboard implements AsyncDisposable {
  readonly daemon: DaemonProcess
  readonly url: string
  readonly fp: Forkpoint
  readonly #browser: Browser
  /** What pages said on their console, or threw. */
  readonly complaints: string[] = []

  private constructor(daemon: DaemonProcess, url: string, fp: Forkpoint, browser: Browser) {
    this.daemon = daemon
    this.url = url
    this.fp = fp
    this.#browser = browser
  }

  static async start(): Promise<Dashboard> {
    const daemon = new DaemonProcess()
    const [, url = ''] = await daemon.start({}, '--listen', '127.0.0.1:0')
    const browser = await chromium.launch({ executablePath: program, args: flags })
    return new Dashboard(daemon, url, await daemon.connect(), browser)
  }

  /** A link, as `forkpoint dashboard --print` prints it. */
  async link(...options: string[]): Promise<string> {
    const ran = await this.daemon.cli.run(['dashboard', '--print', ...options])
    const { stdout, stderr, exitCode } = ran
    if (exitCode !== 0) throw new Error(stderr)
    return stdout.trim()
  }

  async context(options: ContextOptions = {}): Promise<BrowserContext> {
    return await this.#browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  }

  /** A page in a browser of its own, which is logged in. */
  async open(options: ContextOptions = {}, ...link: string[]): Promise<Page> {
    const page = await (await this.context(options)).newPage()
    this.listen(page)
    const cut = page.waitForEvent('requestfailed', { predicate: isCut, timeout: 0 })
    cut.catch(() => {})
    await page.goto(await this.link(...link))
    const shown = page.getByRole('tree').or(page.getByText('Nothing has grown')).waitFor()
    // A script that was not loaded has not used the link.
    await Promise.race([shown, cut.then(() => page.reload())])
    await shown
    return page
  }

  listen(page: Page): void {
    page.on('pageerror', (error) => this.complaints.push(String(error)))
    page.on('console', (message) => {
      const isOurs = message.type() === 'error' && !message.text().includes(networkChanged)
      if (isOurs) this.complaints.push(message.text())
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
    await this.daemon[Symbol.asyncDispose]()
  }
}
