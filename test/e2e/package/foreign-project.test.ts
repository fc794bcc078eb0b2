// The package as a stranger meets it: packed, installed in another project, type-checked, imported, and run.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { foreignProject, installedPackage, programs } from '../../support/package/installed.ts'
import { root } from '../../support/package/machines.ts'
import { whyNot } from '../../support/probe.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { TestHome } from '../../support/test-home.ts'

const place = new TemporaryDirectory()
const home = new TestHome('package')
/** A part of the project, which finds the package above it. */
const app = join(foreignProject, 'app')
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
  mkdirSync(app)
  writeFileSync(join(app, 'main.ts'), program)
  writeFileSync(join(app, 'others.ts'), others)
  const compilerOptions = { strict: true, module: 'nodenext', target: 'es2024', noEmit: true }
  const include = ['*.ts']
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }))
  mkdirSync(compilers)
  for (const name of ['gcc', 'cc', 'make', 'clang']) {
    writeFileSync(join(compilers, name), `#!/bin/sh\ntouch ${compilers}/called\nexit 1\n`)
    chmodSync(join(compilers, name), 0o755)
  }
})

afterAll(async () => {
  place[Symbol.dispose]()
  await home[Symbol.asyncDispose]()
})

function run(program: string, words: readonly string[], more: Record<string, string> = {}) {
  const PATH = `${compilers}:${process.env.PATH}`
  const env = { ...process.env, ...home.variables, FORKPOINT_HOME: home.path, PATH, ...more }
  return spawnSync(program, words, { cwd: app, env, encoding: 'utf8' })
}

test('it holds what it needs and nothing else', () => {
  const files = readdirSync(installedPackage, { recursive: true }).map(String)
  expect(files.length).toBeLessThan(400)
  for (const name of ['src', 'test', 'native/agent', 'native/build/x64/obj', 'dist/.fresh']) {
    expect(existsSync(join(installedPackage, name)), name).toBe(false)
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
    writeFileSync(join(app, 'old.mjs'), `import '${name}'\n`)
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
  const launcher = join(programs, 'forkpoint')
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
