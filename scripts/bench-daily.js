// What people wait for every day, each compared in one run: `npm run bench:daily [-- --rounds 5]`.
// `cp` of a tree of about 5,000 small files, in and out, against `tar` through `exec`; and how long it takes from
// Ctrl-C on `exec` to the end of the command line, with the last output of the command. Needs what `forkpoint` needs.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const rounds = Number(values.rounds)
const place = mkdtempSync('/var/tmp/forkpoint-bench-')
const program = join(import.meta.dirname, '../dist/cli.cjs')
const words = [process.execPath, '--disable-warning=ExperimentalWarning', program]
const env = { ...process.env, FORKPOINT_HOME: join(place, 'home') }
const quoted = words.map((word) => `'${word}'`).join(' ')

/** Sizes as in a tree of sources: most files are small. */
const sizes = [300, 1200, 3000, 8000, 20_000]

try {
  const tree = makeTree(join(place, 'tree'))
  forkpoint('create', '--name', 'bench')
  forkpoint('exec', 'bench', '--', 'true')
  const times = { 'cp in': [], 'tar in': [], 'cp out': [], 'tar out': [], 'Ctrl-C': [] }
  const measure = (name, work) => times[name].push(timed(work))
  for (let round = 0; round < rounds; round += 1) {
    // Nothing is removed before the end: ext4 looks past every inode that was freed a moment ago, which would make
    // whoever comes first slower. Both come first in turn.
    const inside = `/bench-${round}`
    const [fromCp, fromTar] = ['cp', 'tar'].map((way) => join(place, `${way}-${round}`))
    forkpoint('exec', 'bench', '--', `mkdir -p ${inside}/tar`)
    mkdirSync(fromTar)
    const into = `${quoted} exec bench -- tar -x -C ${inside}/tar`
    const out = `${quoted} exec -n bench -- tar -C ${inside}/cp -c .`
    inTurn(round, [
      () => measure('cp in', () => forkpoint('cp', tree.path, `bench:${inside}/cp`)),
      () => measure('tar in', () => shell(`tar -C '${tree.path}' -c . | ${into}`)),
    ])
    inTurn(round, [
      () => measure('cp out', () => forkpoint('cp', `bench:${inside}/cp`, fromCp)),
      () => measure('tar out', () => shell(`${out} | tar -C '${fromTar}' -x`)),
    ])
    times['Ctrl-C'].push(await interrupted())
  }
  execFileSync('diff', ['-r', tree.path, join(place, 'cp-0')])
  report(tree.entries, times)
} finally {
  forkpoint('rm', '--all', '--force')
  rmSync(place, { recursive: true, force: true })
}

function makeTree(path) {
  let entries = 1
  for (let directory = 0; directory < 500; directory += 1) {
    const inside = join(path, `package-${directory % 20}`, `module-${directory}`)
    mkdirSync(inside, { recursive: true })
    entries += 1
    for (let file = 0; file < 10; file += 1, entries += 1) {
      writeFileSync(join(inside, `file-${file}.js`), Buffer.alloc(sizes[file % sizes.length], 'x'))
    }
  }
  return { path, entries: entries + 20 }
}

/** Milliseconds from the signal to the end. Throws if the last output is missing. */
async function interrupted() {
  const line = "(trap 'echo last words' INT; echo begun; sleep 1000)"
  const child = spawn(words[0], [...words.slice(1), 'exec', 'bench', '--', line], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  })
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  while (!text.includes('begun')) await sleep(5)
  const began = performance.now()
  child.kill('SIGINT')
  await once(child, 'close')
  if (!text.endsWith('last words\n')) throw new Error(`the last output is missing: ${text}`)
  return performance.now() - began
}

function report(entries, times) {
  const median = (name) => times[name].toSorted((a, b) => a - b)[Math.floor(rounds / 2)]
  const shown = (name) => `${Math.round(median(name))} ms`
  console.log(`median of ${rounds} rounds, ${entries} entries`)
  for (const way of ['in', 'out']) {
    const ratio = (median(`cp ${way}`) / median(`tar ${way}`)).toFixed(2)
    console.log(
      `cp ${way}: ${shown(`cp ${way}`)}, tar | exec: ${shown(`tar ${way}`)}, ${ratio} times as long`,
    )
  }
  console.log(`Ctrl-C to the prompt: ${shown('Ctrl-C')}`)
}

/** The first or the last comes first. */
function inTurn(round, works) {
  for (const work of round % 2 === 0 ? works : works.toReversed()) work()
}

function timed(work) {
  const began = performance.now()
  work()
  return performance.now() - began
}

function forkpoint(...args) {
  execFileSync(words[0], [...words.slice(1), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

function shell(line) {
  execFileSync('bash', ['-o', 'pipefail', '-c', line], { env, stdio: ['ignore', 'pipe', 'pipe'] })
}
