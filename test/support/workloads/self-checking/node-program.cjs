// Constantly allocates, frees and checks; argument: where to report.
// The report holds "rounds N", or "stale ..." and then the program has ended.
const { createHash } = require('node:crypto')
const { renameSync, writeFileSync } = require('node:fs')
const vm = require('node:vm')
const zlib = require('node:zlib')

const path = process.argv[2]
const report = (text) => {
  writeFileSync(`${path}.new`, `${text}\n`)
  renameSync(`${path}.new`, path)
}
const check = (condition, what) => {
  if (!condition) throw new Error(what)
}
const sum = (bytes) => createHash('sha1').update(bytes).digest('hex')

// Some stay forever, and are checked in every round.
const lasting = Array.from({ length: 20000 }, (_, i) => ({ name: `value ${i}`, list: [i, i + 1] }))
const blocks = new Map()

function allocate(round) {
  for (let i = 0; i < 30; i++) {
    const size = 1 + Math.floor(Math.random() * (i % 3 === 0 ? 600_000 : 4000))
    const bytes = i % 2 ? Buffer.alloc(size) : new Uint8Array(size)
    check(!bytes.some(Boolean), 'an array of zeros')
    bytes.fill(round % 255)
    blocks.set(i + (round % 3) * 30, [bytes, sum(bytes)])
  }
  for (const [bytes, expected] of blocks.values()) check(sum(bytes) === expected, 'a block')
}

// Scripts and compressors use heaps other than that of objects.
function useEngine(round) {
  for (let i = 0; i < 50; i++) {
    const script = new vm.Script(`${i} + ${round} /* ${'long '.repeat(50)} */`)
    check(script.runInThisContext() === i + round, 'a script')
  }
  const text = Buffer.from(`round ${round} `.repeat(5000))
  check(zlib.gunzipSync(zlib.gzipSync(text)).equals(text), 'a compressed text')
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 64 })
  new Uint8Array(memory.buffer).fill(7)
  memory.grow(16)
  check(!new Uint8Array(memory.buffer, 65536).some(Boolean), 'memory that was added')
}

function work(round) {
  allocate(round)
  useEngine(round)
  const rubbish = Array.from({ length: 10000 }, (_, i) => ({ i, text: `text ${i}` }))
  check(rubbish[4999].text === 'text 4999', 'an object')
  for (const [i, { name, list }] of lasting.entries()) {
    check(name === `value ${i}` && list[1] === i + 1, 'a value')
  }
  if (round % 5 === 0) blocks.clear()
  // A last-resort collection frees all that it can.
  global.gc({ type: 'major', execution: 'sync', flavor: round % 2 ? 'regular' : 'last-resort' })
}

let round = 0
function next() {
  const began = performance.now()
  try {
    work(round++)
  } catch (error) {
    report(`stale ${error.stack}`)
    throw error
  }
  report(`rounds ${round}`)
  // Many of these run at the same time: none takes more than a tenth of a core.
  setTimeout(next, Math.min(2000, 9 * (performance.now() - began)))
}
next()
