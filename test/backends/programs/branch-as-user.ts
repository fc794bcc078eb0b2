// Branches an environment of gvisor as whoever runs it, and prints what was seen as one line of JSON.
import { Forkpoint } from '../../../src/forkpoint.ts'

const [home = '', from = ''] = process.argv.slice(2)

await using forkpoint = await Forkpoint.open({ home })
const env = await forkpoint.create({ backend: 'gvisor', from })
const said = async (each: typeof env, command: string) => (await each.exec(command)).stdout.trim()
await env.exec('kept=memory; echo file > /tmp/kept')
const snapshot = await env.snapshot()
const [fork] = await snapshot.fork(1)
if (fork === undefined) throw new Error('there is no fork')
await env.exec('kept=changed; rm /tmp/kept')
await env.restore(snapshot)
const asked = 'echo $kept $(cat /tmp/kept)'
const seen = {
  uid: process.getuid?.(),
  fork: await said(fork, asked),
  restored: await said(env, asked),
  // Nothing of the home, where other environments are.
  home: await said(env, `ls ${home} 2>/dev/null`),
  given: await said(env, 'cat given.txt 2>/dev/null'),
}
for (const each of [fork, env]) await each.remove()
await forkpoint.prune()
console.log(JSON.stringify({ ...seen, left: (await forkpoint.list()).length }))
