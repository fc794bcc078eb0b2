import { expect, test } from 'vitest'
import { branchThreeWays } from '../support/workloads/branch-three-ways.ts'
import { dialogue } from '../support/workloads/dialogue.ts'
import { run, runAs, wordsOf } from '../support/workloads/run.ts'

const data = '/var/tmp/cluster'
const psql = 'psql -X -q -A -t -U postgres -p 5499'
const sayEnd = (mark: string) => `\\echo ${mark}`
const overTcp = dialogue('tcp', `${psql} -h 127.0.0.1 -d shop`, sayEnd)
const overSocket = dialogue('socket', `${psql} -h ${data} -d stock`, sayEnd)
const writer = dialogue('writer', `${psql} -h ${data} -d shop`, sayEnd)
const sessions = [overTcp, overSocket]

const startServer = `
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
initdb --no-sync -A trust -D ${data} > /dev/null
printf "port = 5499\\nfsync = off\\nunix_socket_directories = '${data}'\\n" >> ${data}/postgresql.conf
pg_ctl -s -w -D ${data} -l ${data}/log start
createdb -h ${data} -p 5499 shop && createdb -h ${data} -p 5499 stock
`

test('postgres keeps its databases and the sessions of its clients', () =>
  branchThreeWays({
    start: async (env) => {
      await runAs(env, 'postgres', startServer)
      for (const session of sessions) {
        await session.start(env)
        await session.ask(env, 'CREATE TABLE marks(id serial, word text);')
        await session.ask(env, 'CREATE TEMP TABLE own AS SELECT generate_series(1, 1000) AS n;')
        await session.ask(env, "PREPARE total AS SELECT sum(n) FROM own; SET my.mood = 'good';")
      }
      await overSocket.ask(env, 'SELECT pg_advisory_lock(77);')
      await writer.start(env)
      await writer.ask(
        env,
        "CREATE TABLE pending(word text); BEGIN; INSERT INTO pending VALUES ('a');",
      )
    },
    check: async (env) => {
      for (const session of sessions) {
        expect(await session.ask(env, 'EXECUTE total; SHOW my.mood;')).toBe('500500\ngood')
      }
      const holders = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
      expect(await run(env, `${psql} -h ${data} -d stock -c "${holders}"`)).toBe('1')
      // A transaction is open: its own session sees what it wrote, no other does.
      const pending = 'SELECT count(*) FROM pending;'
      expect(await writer.ask(env, pending)).toBe('1')
      expect(await overTcp.ask(env, pending)).toBe('0')
    },
    mark: async (env, word) => {
      for (const session of sessions) {
        expect(await session.ask(env, `INSERT INTO marks(word) VALUES ('${word}');`)).toBe('')
      }
    },
    marks: async (env) => {
      const look = `-c 'SELECT word FROM marks ORDER BY id'`
      const [shop = '', stock] = await Promise.all(
        ['shop', 'stock'].map((name) => run(env, `${psql} -h ${data} -d ${name} ${look}`)),
      )
      expect(stock).toBe(shop)
      return wordsOf(shop)
    },
  }))
