// Node: timers, a watched file, a child, a server with a connection that is kept alive, and promises under way.
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const http = require('node:http')

let noticed = false
function notice(text) {
  if (!noticed) console.log(`noticed: ${text}`)
  noticed = true
}

// Milliseconds that the whole environment stood still so far, by the watch of launch.c.
const stoodStill = () => Number(fs.readFileSync('../stops', 'utf8'))

let ticks = 0
setInterval(() => ticks++, 100)
const began = { at: performance.now(), stops: stoodStill() }

fs.writeFileSync('watched', '')
let changes = 0
fs.watch('watched', () => changes++)

const child = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] })
child.on('exit', (code, signal) => over || notice(`the child ended with ${code} ${signal}`))
let echoed = 0
child.stdout.on('data', (data) => {
  echoed += data.length
})

let over = false
let connections = 0
const server = http.createServer((_request, response) => response.end('answer'))
server.on('connection', () => connections++)
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const ask = () =>
    http
      .get({ port: server.address().port, agent }, (response) => {
        response.on('data', () => {}).on('end', () => over || setTimeout(ask, 30))
      })
      .on('error', (error) => notice(error.message))
  ask()
  setTimeout(() => console.log('ready'), 500)
})

process.stdin
  .on('data', () => {})
  .on('end', () => {
    if (changes > 0) notice(`${changes} changes of a file that nobody changed`)
    const ran = performance.now() - began.at - (stoodStill() - began.stops)
    if (ticks < ran / 100 / 5) notice(`${ticks} ticks of a timer in ${ran} ms`)
    if (connections !== 1) notice(`${connections} connections instead of one`)
    fs.appendFileSync('watched', 'x')
    child.stdin.write('hello')
    setTimeout(() => {
      if (changes === 0) notice('a change was not seen')
      if (echoed !== 5) notice(`the child gave back ${echoed} bytes of 5`)
      over = true
      if (!noticed) console.log('ok')
      process.exit(0)
    }, 1000)
  })
