// The package as a stranger meets it: packed, installed in another project, type-checked, imported, and run.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { whyNot } from '../../support/probe.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { TestHome } from '../../support/test-home.ts'
import { root, whyNoPackage } from './machines.ts'

const place = new TemporaryDirectory()
const home = new TestHome('package')
const project = place.file('project')
/** A compiler that says so if anybody calls it. */
const compilers = place.file('compilers')

const program = `
import { type Environment, Forkpoint, NotFoundError, type Snapshot } from 'forkpoint'

await using fp = await Forkpoint.open()
const env: Environment = await fp.create()
const { stdout } = await env.exec('cd /srv; echo $PWD')
const ready: Snapshot = await env.snapshot({ name: 'ready' })
const tries = await ready.fork(2, { name: 'try' })
const answers: string[] = await Promise.all(tries.map(async (t) => (await t.exec('pwd')).stdout))
console.log(JSON.stringify([stdout, ...answers]))
await fp.get('nosuch').catch((error: unknown) => {
  if (!(error instanceof NotFoundError)) throw error
})
for (const each of [env, ...tries]) await each.remove()
await ready.remove()
`

/** Every way in. Frameworks are the user's: without them, their integrations have no types. */
const others = `
import { connect } from 'forkpoint/client'
export const client: Promise<unknown> = Promise.resolve(connect)
`

beforeAll(() => {
  if (whyNoPackage !== null) return
  mkdirSync(project)
  execFileSync('npm', ['pack', '--silent', '--pack-destination', place.path], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [tarball = ''] = readdirSync(place.path).filter((name) => name.endsWith('.tgz'))
  writeFileSync(join(project, 'package.json'), '{ "name": "foreign", "type": "module" }')
  writeFileSync(join(project, 'main.ts'), program)
  writeFileSync(join(project, 'others.ts'), others)
  const compilerOptions = { strict: true, module: 'nodenext', target: 'es2024', noEmit: true }
  const include = ['*.ts']
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }))
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
  execFileSync('npm', ['install', ...flags, place.file(tarball)], { cwd: project })
  mkdirSync(compilers)
  for (const name of ['gcc', 'cc', 'make', 'clang']) {
    writeFileSync(join(compilers, name), `#!/bin/sh\ntouch ${compilers}/called\nexit 1\n`)
    chmodSync(join(compilers, name), 0o755)
  }
}, 400_000)

beforeEach((ctx) => {
  if (whyNoPackage !== null) ctx.skip(whyNoPackage)
})

afterAll(async () => {
  place[Symbol.dispose]()
  await home[Symbol.asyncDispose]()
})

function run(program: string, words: readonly string[], more: Record<string, string> = {}) {
  const PATH = `${compilers}:${process.env.PATH}`
  const env = { ...process.env, ...home.variables, FORKPOINT_HOME: home.path, PATH, ...more }
  return spawnSync(program, words, { cwd: project, env, encoding: 'utf8' })
}

test('it holds what it needs and nothing else', () => {
  const installed = join(project, 'node_modules/forkpoint')
  const files = readdirSync(installed, { recursive: true }).map(String)
  expect(files.length).toBeLessThan(400)
  for (const name of ['src', 'test', 'native/agent', 'native/build/x64/obj', 'dist/.fresh']) {
    expect(existsSync(join(installed, name)), name).toBe(false)
  }
  for (const machine of ['x64', 'arm64']) {
    expect(files).toContain(`native/build/${machine}/agent`)
  }
  const maps = files.filter((name) => name.endsWith('.map'))
  expect(maps).toEqual([])
})

test('a project that imports it type-checks, down to our own declarations', () => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout, status } = run(process.execPath, [compiler, '-p', '.'])
  expect(stdout).toBe('')
  expect(status).toBe(0)
})

test('a program that imports it branches an environment, without a compiler', () => {
  const { stdout, stderr } = run(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    'main.ts',
  ])
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual(['/srv\n', '/srv\n', '/srv\n'])
  expect(existsSync(join(compilers, 'called'))).toBe(false)
})

test('npx forkpoint works in it, without a compiler', () => {
  const npx = (...words: string[]) => run('npx', ['--no-install', 'forkpoint', ...words])
  expect(npx('create', '--name', 'web').stdout).toMatch(/^created web \(e\w+\)\n$/)
  expect(npx('exec', 'web', '--', 'echo inside').stdout).toBe('inside\n')
  expect(npx('rm', 'web').stdout).toMatch(/^removed web/)
  expect(npx('nosuch').status).toBe(2)
  expect(existsSync(join(compilers, 'called'))).toBe(false)
})

test('an older Node is told in one sentence what to do', (ctx) => {
  const older = ['/usr/bin/node', '/usr/bin/nodejs'].find(
    (path) =>
      whyNot(path, '-e', 'process.exit(process.versions.node.split(".")[0] < 24 ? 0 : 1)') === null,
  )
  if (older === undefined) return ctx.skip('no Node before 24 in /usr/bin')
  for (const name of ['forkpoint', 'forkpoint/integrations/ai']) {
    writeFileSync(join(project, 'old.mjs'), `import '${name}'\n`)
    const { stderr, status } = run(older, ['old.mjs'])
    expect(status).toBe(1)
    expect(stderr).toMatch(
      /^Error: Forkpoint needs Node 24 or newer, and this is Node \d+\.\d+\.\d+; install/m,
    )
    expect(stderr).not.toContain('node:sqlite')
  }
})

test('a user who is not root is told in one sentence what to do', () => {
  const nobody = ['--reuid', '65534', '--regid', '65534', '--clear-groups']
  chmodSync(place.path, 0o755)
  const launcher = join(project, 'node_modules/.bin/forkpoint')
  const as = (more: Record<string, string>) => run('setpriv', [...nobody, launcher, 'ls'], more)
  // Before root has ever called it, and after.
  const first = as({ FORKPOINT_RUNTIME: '/var/lib/forkpoint-not-there' })
  expect(first.stderr).toMatch(
    /^forkpoint: writing to .* needs root, and this is uid 65534\n {2}remedy: run it once as root .*\n$/,
  )
  const later = as({ FORKPOINT_HOME: '/var/lib/forkpoint-not-there' })
  expect(later.stderr).toMatch(/^forkpoint: cannot use .*\n {2}remedy: run it with sudo, .*\n$/)
  for (const { status } of [first, later]) expect(status).toBe(6)
})
