/**
 * A session of Node, which runs inside: the same lines as the Python one. Top-level declarations stay, and the
 * last expression is the result.
 */
export const nodeKernel = String.raw`
const { createInterface } = require('node:readline')
const { writeSync } = require('node:fs')
const { inspect, format } = require('node:util')
const repl = require('node:repl')
const { PassThrough } = require('node:stream')

let current = null
let count = 0
function emit(type, fields) {
  let rest = Buffer.from(JSON.stringify({ id: current, type, ...fields }) + '\n')
  while (rest.length > 0) {
    try { rest = rest.subarray(writeSync(1, rest)) } catch (error) { if (error.code !== 'EAGAIN') throw error }
  }
}
for (const [name, kind] of [['stdout', 'stdout'], ['stderr', 'stderr']]) {
  process[name].write = (chunk, encoding, done) => {
    emit(kind, { text: Buffer.isBuffer(chunk) ? chunk.toString() : String(chunk) })
    const callback = typeof encoding === 'function' ? encoding : done
    if (callback) callback()
    return true
  }
}

// The evaluator of Node's own prompt: it keeps declarations and allows await at the top.
const server = repl.start({ prompt: '', input: new PassThrough(), output: new PassThrough(), useGlobal: true, terminal: false })
let settle = null
const evaluate = (code) => new Promise((resolve) => {
  settle = resolve
  server.eval(code, server.context, 'cell-' + count, (error, value) => resolve({ error, value }))
}).finally(() => { settle = null })

// What a cell throws does not come to the callback, but here.
function thrown(error) {
  if (settle) settle({ error })
  else fail(error)
}
if (server._domain) {
  server._domain.removeAllListeners('error')
  server._domain.on('error', thrown)
}
process.on('uncaughtException', thrown)

async function run({ code, envs = {} }) {
  count += 1
  const kept = Object.fromEntries(Object.keys(envs).map((name) => [name, process.env[name]]))
  Object.assign(process.env, envs)
  try {
    const { error, value } = await evaluate(code + '\n')
    if (error) fail(error)
    else if (value !== undefined) show(value)
  } catch (error) {
    fail(error)
  } finally {
    for (const [name, value] of Object.entries(kept)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

function show(value) {
  const text = typeof value === 'string' ? value : inspect(value)
  let json
  try { json = typeof value === 'object' && value !== null ? JSON.parse(JSON.stringify(value)) : undefined } catch {}
  emit('result', { is_main_result: true, text, ...(json !== undefined && { json }) })
}

function fail(error) {
  const known = error instanceof Error || (error && typeof error.stack === 'string')
  emit('error', {
    name: known ? error.name : 'Error',
    value: known ? error.message : format(error),
    traceback: known ? String(error.stack) : format(error),
  })
}

process.on('unhandledRejection', fail)
process.on('SIGINT', () => process.exit(130))
// Null for what was cut short; it comes again.
function requestOf(line) {
  try { return JSON.parse(line) } catch { return null }
}

let last = null
emit('ready', { kernel: 'node' })
void (async () => {
  for await (const line of createInterface({ input: process.stdin })) {
    const request = requestOf(line)
    if (request === null || request.id === last) continue
    current = last = request.id
    await run(request)
    emit('number_of_executions', { execution_count: count })
    emit('end', {})
    current = null
  }
  process.exit()
})()
`
