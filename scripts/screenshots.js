// Makes the pictures of docs/dashboard.md and README.md from a true run: a daemon of its own, real environments, and
// Debian's Chromium. Look at each of them before you commit it.
//
//   npm run screenshots      after scripts/bootstrap native dist web
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const pictures = join(root, 'docs/images')
const home = mkdtempSync(join(tmpdir(), 'forkpoint-pictures-'))
const program = [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  join(root, 'dist/cli.cjs'),
]
const env = { ...process.env, FORKPOINT_HOME: home }

/** As high as each needs, so that nothing is cut off. */
const wide = (height) => ({ width: 1280, height })
const phone = { width: 390, height: 760 }

/** The program that the agent mends. */
const cart = [
  'def total_of(items, discount=0):',
  '    total = 0',
  '    for item in items:',
  '        total += item.price * item.count',
  '    return total',
]

/** What it is measured by: 40 checks, of which half have a discount. */
const check = [
  'from types import SimpleNamespace as Item',
  'from cart import total_of',
  'passed = 0',
  'for count in range(20):',
  '    for discount in (0, 0.25):',
  '        total = total_of([Item(price=10, count=count + 1)], discount)',
  '        passed += total == 10 * (count + 1) * (1 - discount)',
  'print(f"{passed} of 40 checks pass")',
  'raise SystemExit(passed < 40)',
]

const daemon = spawn(program[0], [...program.slice(1), 'serve', '--listen', '127.0.0.1:0'], {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
})
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
})
try {
  await once(createInterface({ input: daemon.stdout }), 'line')
  mkdirSync(pictures, { recursive: true })
  grow()
  for (const colorScheme of ['light', 'dark']) {
    await take(`tree-${colorScheme}`, { colorScheme, viewport: wide(1000) }, async (page) => {
      await select(page, 'fixed')
      await page.getByText('"passed": 40').waitFor()
    })
  }
  await take('changes-dark', { colorScheme: 'dark', viewport: wide(680) }, async (page) => {
    await select(page, 'polish-1')
    await page.getByRole('tab', { name: 'Changes' }).click()
    await page.getByLabel('Changed since').selectOption({ label: 'snapshot ready' })
    await page.getByTitle('/srv/shop/cart.py').click()
    await page.getByRole('row').first().waitFor()
  })
  await take('resources-light', { colorScheme: 'light', viewport: wide(860) }, async (page) => {
    await select(page, 'polish-1')
    await page.getByRole('tab', { name: 'Resources' }).click()
    // Graphs need some seconds to be drawn.
    await sleep(15_000)
  })
  await take('terminals-dark', { colorScheme: 'dark', viewport: wide(660) }, async (page) => {
    await openPanel(page, 'terminals', ['try-1', 'try-2', 'polish-1', 'polish-2'])
    await page.getByText('README.md').nth(3).waitFor()
    await page.getByRole('button', { name: 'Type into all' }).click()
    await page.locator('.xterm-screen').first().click()
    await page.keyboard.type('python3 -B check.py 2>&1 | tail -n 1; tail -n 1 cart.py\n')
    await page.getByText('20 of 40 checks').or(page.getByText('ImportError')).first().waitFor()
  })
  await take('compare-light', { colorScheme: 'light', viewport: wide(960) }, async (page) => {
    await openPanel(page, 'compare', ['try-1', 'try-2', 'polish-1'])
    await page.getByRole('button', { name: /shop\/cart.py in polish-1/ }).click()
    await page
      .getByRole('region', { name: /^Changes of/ })
      .getByRole('row')
      .first()
      .waitFor()
  })
  await take('phone-light', { colorScheme: 'light', viewport: phone, isMobile: true })
} finally {
  await browser.close()
  const left = JSON.parse(run('ls', '--json')).map(({ id }) => id)
  if (left.length > 0) run('rm', ...left)
  run('prune', '--force')
  daemon.kill()
  await once(daemon, 'exit')
  unmount()
  rmSync(home, { recursive: true, force: true })
}

/** An agent's task: a state worth keeping, three tries from it, and two more from the best. */
function grow() {
  run('create', '--name', 'shop', '--label', 'task=cart-bug')
  inside('shop', 'mkdir -p /srv/shop && cd /srv/shop && git init -q . && echo "# shop" > README.md')
  write('shop', 'cart.py', cart)
  write('shop', 'check.py', check)
  run('type', 'shop', 'main', 'cd /srv/shop; clear; ls\n')
  while (!run('screen', 'shop', 'main').includes('README.md')) execFileSync('sleep', ['0.2'])
  run('snapshot', 'shop', '--name', 'ready', '-m', 'dependencies installed, half the checks fail')
  run('fork', 'ready', '-n', '3', '--name', 'try')
  inside('try-1', 'sed -i s/total/sum/ cart.py')
  inside(
    'try-2',
    `sed -i 's/    return total$/    return round(total * (1 - discount), 2)/' cart.py`,
  )
  inside('try-2', 'mkdir tests && echo "def test_discount(): ..." > tests/test_cart.py')
  run('snapshot', 'try-2', '--name', 'fixed', '-m', 'the discount counts: 40 of 40 checks pass')
  annotate('fixed', { checks: { passed: 40, failed: 0 }, score: 0.94 })
  run('fork', 'fixed', '-n', '2', '--name', 'polish')
  inside('polish-1', `sed -i '1i """The cart of the shop."""' cart.py`)
  run('exec', '--detach', 'polish-1', '--', 'while :; do sleep 0.01; done')
  for (const name of ['try-1', 'try-2', 'polish-1']) {
    inside(name, 'python3 -B check.py', 'may fail')
  }
  run('pause', 'try-3')
  for (const [name, score] of [
    ['try-1', '0.41'],
    ['try-2', '0.94'],
    ['polish-1', '0.97'],
  ]) {
    post(`environments/${name}/labels`, { labels: { task: 'cart-bug', score } })
  }
  inside('shop', 'echo "see cart.py" >> README.md')
  run('snapshot', 'shop', '-m', 'before the upgrade')
}

function quoted(text) {
  return `'${text}'`
}

function run(...words) {
  return execFileSync(program[0], [...program.slice(1), ...words], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  }).toString()
}

function inside(name, command, outcome = 'must work') {
  try {
    run('exec', name, '--', command)
  } catch (error) {
    if (outcome === 'must work') throw error
  }
}

function write(name, file, lines) {
  inside(name, `printf '%s\\n' ${lines.map(quoted).join(' ')} > ${file}`)
}

function annotate(snapshot, metadata) {
  post(`snapshots/${snapshot}/metadata`, { metadata })
}

/** Through the daemon's own routes, as the page does it. */
function post(path, input) {
  const socket = join(home, 'forkpoint.sock')
  const words = ['-sf', '--unix-socket', socket, '--json', JSON.stringify(input)]
  execFileSync('curl', [...words, `http://localhost/v1/${path}`])
}

async function openPanel(page, panel, names) {
  const all = JSON.parse(run('ls', '--json'))
  const ids = names.map((name) => all.find((each) => each.name === name).id)
  await page.goto(`${new URL(page.url()).origin}/${panel}?of=${ids.join()}`)
}

async function select(page, name) {
  await page.getByRole('treeitem', { name: new RegExp(`^\\w+ ${name}\\b`) }).click()
}

async function take(name, options, prepare = async () => {}) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  // Chromium ends what it is loading when somebody on this machine makes or removes a network interface.
  const isCut = (request) => request.failure()?.errorText === 'net::ERR_NETWORK_CHANGED'
  const cut = page.waitForEvent('requestfailed', { predicate: isCut, timeout: 0 })
  cut.catch(() => {})
  await page.goto(run('dashboard', '--print').trim())
  const shown = page.getByRole('tree').waitFor()
  await Promise.race([shown, cut.then(() => page.reload())])
  await shown
  await prepare(page)
  // A second, so that the first measurement of each environment is there.
  await sleep(2000)
  await page.screenshot({ path: join(pictures, `dashboard-${name}.png`) })
  await context.close()
}

/** The volumes of the home stay mounted for the next command; here there is none. */
function unmount() {
  for (const part of ['data/files', 'data']) {
    try {
      execFileSync('umount', [join(home, part)], { stdio: 'pipe' })
    } catch {
      // This one was not mounted.
    }
  }
}
