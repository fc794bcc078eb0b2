import { chromiumFlags } from './chromium-flags.ts'
import { httpGet, run, runAs, runUntilDone, type Workload } from './workload.ts'

/** What a dev server does: it holds modules, watches files and answers requests. */
const server = `
const fs = require('node:fs')
const modules = new Map(Array.from({ length: 20000 }, (_, i) => [i, { source: 'x'.repeat(500) + i }]))
fs.watch('/root/site', () => modules.clear())
setInterval(() => modules.size, 100)
require('node:http')
  .createServer((request, response) => response.end('modules: ' + modules.size))
  .listen(8123, '127.0.0.1')
`

const nodeServer: Workload = {
  name: 'node dev server',
  needs: ['node'],
  start: async (env) => {
    await run(env, 'mkdir -p /root/site')
    await env.files.write('/root/server.cjs', server)
    await run(env, 'node /root/server.cjs > /root/server.log 2>&1 &')
    await runUntilDone(env, httpGet(8123, '/', 'cat'))
  },
  check: async (env) => {
    const answer = await run(env, `(${httpGet(8123, '/', 'cat')})`)
    if (!answer.endsWith('modules: 20000'))
      throw new Error(`the server lost its modules: ${answer}`)
  },
}

const cluster = '/var/tmp/bench-cluster'
const psql = `psql -X -A -t -U postgres -p 5498 -h ${cluster}`

const startCluster = `
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
initdb --no-sync -A trust -D ${cluster} > /dev/null
printf "port = 5498\\nfsync = off\\nunix_socket_directories = '${cluster}'\\n" >> ${cluster}/postgresql.conf
pg_ctl -s -w -D ${cluster} -l ${cluster}/log start
${psql} -c "CREATE TABLE rows AS SELECT n, md5(n::text) FROM generate_series(1, 20000) n" > /dev/null
`

const postgres: Workload = {
  name: 'postgres',
  needs: ['postgres', 'psql'],
  start: async (env) => {
    await runAs(env, 'postgres', startCluster)
  },
  check: async (env) => {
    const counted = await run(env, `${psql} -c 'SELECT count(*) FROM rows'`)
    if (counted.trim() !== '20000') throw new Error(`postgres lost rows: ${counted}`)
  },
}

const flags = chromiumFlags(9223)

const page = `<title>counting</title><body></body><script>
  let ticks = 0
  setInterval(() => { document.body.textContent = String(++ticks) }, 50)
</script>`

/** Chromium leaves the connection open after its answer. */
const seesPage = httpGet(9223, '/json/list', 'timeout 2 grep -q counting')

const chromium: Workload = {
  name: 'Chromium',
  needs: ['chromium'],
  start: async (env) => {
    await env.files.write('/root/page.html', page)
    const words = [...flags, 'file:///root/page.html']
    await run(env, `chromium ${words.join(' ')} > /root/chromium.log 2>&1 &`)
    await runUntilDone(env, seesPage)
  },
  check: async (env) => {
    await run(env, `(${seesPage})`)
  },
}

export const programs = { node: nodeServer, postgres, chromium }
