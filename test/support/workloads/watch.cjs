// Watches files and directories as dev servers do, and records what happens: watch.cjs LOG PATH...
const { appendFileSync, watch } = require('node:fs')
const { join, basename } = require('node:path')

const [, , log, ...paths] = process.argv
for (const path of paths) {
  watch(path, (_event, name) => {
    const isItself = name === null || name === basename(path)
    appendFileSync(log, `${isItself ? path : join(path, name)}\n`)
  })
}
appendFileSync(log, 'ready\n')
