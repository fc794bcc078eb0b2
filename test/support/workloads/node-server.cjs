// Watches files and directories, and serves what it saw.
const fs = require('node:fs')
const http = require('node:http')

const state = { answer: 42, ticks: 0, marks: [] }
const files = ['/root/watched/upper', '/etc/debian_version']
const directories = ['/root/watched', '/usr/local/share']
const seen = Object.fromEntries([...files, ...directories].map((path) => [path, []]))

/** A change may fire more than once. */
function note(path, word) {
  if (!seen[path].includes(word)) seen[path].push(word)
}

for (const path of files) {
  fs.watch(path, () => note(path, fs.readFileSync(path, 'utf8').trim().split('\n').at(-1)))
}
for (const path of directories) {
  fs.watch(path, (kind, name) => kind === 'rename' && note(path, name))
}
setInterval(() => state.ticks++, 10)

http
  .createServer((request, response) =>
    response.end(JSON.stringify(request.url === '/seen' ? seen : state)),
  )
  .listen(8000, '127.0.0.1', () => console.log('listening'))
