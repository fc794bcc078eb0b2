// Attacks that need more than one environment's own view: a process of the host in its cgroup, a small
// volume, the command line.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import type { Environment, TerminalViewer } from '../../src/index.ts'
import { CliHome } from '../e2e/cli/cli-home.ts'
import { cgroupsOf } from '../support/cell-processes.ts'
import { noteAttack } from '../support/evidence.ts'
import { failureOf } from '../support/failure-of.ts'
import { bytesRead } from '../support/hostile-programs.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'
import { boundPromises } from './catalogue/host-side.ts'
import { type AttackRun, allRuns, environmentIn, nameOf } from './support/states.ts'

const cli = new CliHome()
const { home } = cli
const files = new TemporaryDirectory()
afterAll(async () => {
  files[Symbol.dispose]()
  await cli[Symbol.asyncDispose]()
})

/** What is wrong; null if nothing is. */
type BoundAttack = (run: AttackRun) => Promise<string | null>

const runAs = (env: Environment, { user }: AttackRun, words: readonly string[]) =>
  env.exec(words, { mode: 'process', user, cwd: '/tmp' })

/** Like a process that has escaped from its mounts, but not from its cgroup. */
async function readDiskInCgroup(run: AttackRun): Promise<string | null> {
  const env = await environmentIn(home, run.state)
  const disk = files.file(`disk-${nameOf(run)}`)
  writeFileSync(disk, 'of the host')
  truncateSync(disk, 2 ** 20)
  const device = execFileSync('losetup', ['--find', '--show', disk], { encoding: 'utf8' }).trim()
  try {
    const read = `dd if=${device} count=1 status=none | head -c 11`
    const joins = cgroupsOf(home, env).map((dir) => `echo $$ > ${dir}/cgroup.procs`)
    const shell = (script: string) => spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout
    if (shell(read) !== 'of the host') return 'not even the host can read it'
    return shell([...joins, read].join(';')) === '' ? null : 'the disk was read'
  } finally {
    execFileSync('losetup', ['-d', device])
    await env.remove()
  }
}

const filling = `
import os
try:
    with open('/tmp/blocks', 'wb', buffering=0) as f:
        while True: f.write(b'x' * 1048576)
except OSError: pass
n = 0
try:
    while True: os.close(os.open('/tmp/n%d' % n, os.O_CREAT)); n += 1
except OSError: pass
`

async function fillVolume(run: AttackRun): Promise<string | null> {
  await using small = new TestHome('full', { 'spares.count': 0, 'volume.size': '300m' })
  const env = await environmentIn(small, run.state)
  const neighbour = await (await small.open()).create()
  await runAs(env, run, ['/usr/bin/python3', '-c', filling])
  const failure = await failureOf(env.files.write('/root/more', Buffer.alloc(2 ** 20)))
  if (failure === null) return 'the volume is not full'
  const { stdout } = await neighbour.exec('echo here')
  return stdout === 'here\n' ? null : stdout
}

const digging = `
import os
os.mkdir('/tmp/deep'); os.chdir('/tmp/deep')
for _ in range(40): os.mkdir('d' * 200); os.chdir('d' * 200)
open('bottom', 'w').close()
`

/** There must be no error half-way, and no leftovers. */
async function digTree(run: AttackRun): Promise<string | null> {
  const env = await environmentIn(home, run.state)
  const { stderr } = await runAs(env, run, ['/usr/bin/python3', '-c', digging])
  if (stderr !== '') return stderr
  const place = files.file(`deep-${nameOf(run)}`)
  mkdirSync(place)
  const failures = [
    await failureOf(env.diff()),
    await failureOf(env.export(`${place}/out`, { paths: ['/tmp/deep'] })),
  ]
  const rest = execFileSync('ls', ['-A', place], { encoding: 'utf8' }).trim()
  execFileSync('rm', ['-rf', place])
  await env.remove()
  const wrong = failures.filter((failure) => failure !== null).map(String)
  return wrong.length === 0 && rest === 'out' ? null : `${wrong} ${rest}`
}

const naming = `
import os
for bad in ['\\x1b]0;owned\\x07', '\\x9b31m', '\\u202e', '\\r']:
    open('/tmp/name' + bad + 'end', 'w').write('line\\n')
`

// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not occur
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u

async function nameFiles(run: AttackRun): Promise<string | null> {
  const env = await environmentIn(home, run.state)
  await runAs(env, run, ['/usr/bin/python3', '-c', naming])
  const commands = [
    ['diff', env.id],
    ['diff', '--patch', env.id],
  ]
  const printed = await Promise.all(commands.map((words) => cli.run(words)))
  await env.remove()
  const text = printed.map(({ stdout, stderr }) => stdout + stderr).join('')
  if (!text.includes('name')) return `the files were not named: ${text}`
  const found = control.exec(text)
  return found === null
    ? null
    : `printed ${JSON.stringify(text.slice(found.index - 20, found.index + 20))}`
}

async function shownUntil(viewer: TerminalViewer, wanted: string): Promise<string> {
  let text = ''
  for await (const chunk of viewer.data()) {
    text += chunk.toString('latin1')
    if (text.includes(wanted)) break
  }
  return text
}

/** Whoever attaches to the terminal again sees what was drawn, and their clipboard does not change. */
async function writeClipboard(run: AttackRun): Promise<string | null> {
  const env = await environmentIn(home, run.state)
  const script = "printf '\\033]52;c;eA==\\007\\033[6ndrawn'; sleep 1000"
  const argv = ['/bin/sh', '-c', script]
  const viewer = await env.terminal('shared').attach({ argv, user: run.user })
  const live = await shownUntil(viewer, 'drawn')
  viewer.detach()
  const again = await env.terminal('shared').attach()
  // The last character follows as live output: an accent could still join it.
  const replayed = await shownUntil(again, 'draw')
  again.detach()
  await env.remove()
  if (!live.includes('52;c;')) return `the attack was not seen live: ${JSON.stringify(live)}`
  return replayed.includes('\x1b]52') || replayed.includes('\x1b[6n') ? replayed : null
}

const oversized = `
import mmap, os, sys
held = []
for i in range(3):
    with open('/tmp/big%d.so' % i, 'wb') as f:
        f.write(open('/bin/true', 'rb').read())
        f.truncate(1000 << 20)
    f = open('/tmp/big%d.so' % i, 'rb')
    held.append(mmap.mmap(f.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
print('ready', flush=True)
sys.stdin.read()
`

async function mapOversized(run: AttackRun): Promise<string | null> {
  const env = await environmentIn(home, run.state)
  const words = ['/usr/bin/python3', '-c', oversized]
  const running = await env.spawn(words, { mode: 'process', user: run.user, stdin: 'streamed' })
  await running.stdout[Symbol.asyncIterator]().next()
  const before = bytesRead()
  await env.snapshot()
  const read = bytesRead() - before
  await env.remove()
  return read < 1000 * 2 ** 20 ? null : `${read} bytes were read`
}

const boundAttacks: Readonly<Record<string, BoundAttack>> = {
  'disk-without-nodev': readDiskInCgroup,
  'volume-full': fillVolume,
  'tree-too-deep': digTree,
  'text-control-characters': nameFiles,
  'terminal-clipboard': writeClipboard,
  'program-all-size': mapOversized,
}

describe.each(boundPromises)('$promise', ({ attacks }) => {
  test.for(attacks)('%s', { timeout: 240_000 }, async (name) => {
    for (const run of allRuns) {
      expect(await boundAttacks[name]?.(run), `${name}, ${nameOf(run)}`).toBe(null)
      noteAttack()
    }
  })
})
