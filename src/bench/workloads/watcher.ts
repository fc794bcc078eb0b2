import { run, runUntilDone, type Workload } from './workload.ts'

const program = '/root/watch.cjs'
const place = '/root/watched'
const directories = 400

/** Watches every file by itself, as dev servers do, and writes down which one changed last. */
const watch = `
const fs = require('node:fs')
const count = Number(process.argv[2])
for (let i = 0; i < count; i += 1) {
  const dir = '${place}/' + (i % ${directories})
  if (i < ${directories}) fs.mkdirSync(dir, { recursive: true })
  const file = dir + '/' + i
  fs.writeFileSync(file, 'module ' + i)
  fs.watch(file, () => fs.writeFileSync('${place}.seen', String(i)))
}
fs.writeFileSync('${place}.ready', '')
`

/** A dev server that watches this many files. */
export function watcher(watches: number): Workload {
  return {
    name: `${watches} watches`,
    needs: ['node'],
    start: async (env) => {
      await env.files.write(program, watch)
      await run(env, `node ${program} ${watches} > /root/watch.log 2>&1 &`)
      await runUntilDone(env, `[ -e ${place}.ready ]`)
    },
    check: async (env) => {
      const touched = Math.floor(Math.random() * watches)
      await run(env, `echo changed > ${place}/${touched % directories}/${touched}`)
      await runUntilDone(env, `[ "$(cat ${place}.seen)" = ${touched} ]`)
    },
  }
}
