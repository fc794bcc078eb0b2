// Holds many objects. Frees and makes others when it is asked to, and gives back what it can.
const { existsSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs')
const { Script } = require('node:vm')

const count = 400_000
const makeObject = (number) => ({ number, name: `object ${number}`, parts: [number, number / 2] })
const objects = Array.from({ length: count }, (_, number) => makeObject(number))

// The newest node has them on V8's heap for C++ objects.
const makeScript = (number) => new Script(`${number} + 1`)
const scripts = Array.from({ length: 12_000 }, (_, number) => makeScript(number))

function isRight({ number, name, parts }, at) {
  return number === at && name === `object ${at}` && parts[0] === at && parts[1] === at / 2
}

function check() {
  const areScripts = scripts.every((script, at) => script.runInThisContext() === at + 1)
  return areScripts && objects.every(isRight) ? 'whole' : 'broken'
}

function discard() {
  for (let round = 0; round < 4; round += 1) {
    for (let at = round; at < count; at += 4) objects[at] = null
    for (let at = 0; at < 4_000; at += 1) scripts[at] = null
    for (let times = 0; times < 3; times += 1) gc({ type: 'major', flavor: 'last-resort' })
    for (let at = round; at < count; at += 4) objects[at] = makeObject(at)
    for (let at = 0; at < 4_000; at += 1) scripts[at] = makeScript(at)
  }
  return check()
}

const answers = { check, discard }
setInterval(() => {
  if (!existsSync('/root/ask')) return
  const question = readFileSync('/root/ask', 'utf8').trim()
  rmSync('/root/ask')
  writeFileSync('/root/answer.new', answers[question]())
  renameSync('/root/answer.new', '/root/answer')
}, 20)
