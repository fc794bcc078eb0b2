import { expect, test } from 'vitest'
import { branchThreeWays } from '../support/workloads/branch-three-ways.ts'
import { dialogue } from '../support/workloads/dialogue.ts'
import { run, runUntilDone, wordsOf } from '../support/workloads/run.ts'

const sayEnd = (mark: string) => `ECHO ${mark}`
const tcp = dialogue('tcp', 'redis-cli --raw -p 6399', sayEnd)
const unix = dialogue('unix', 'redis-cli --raw -s /root/redis.sock', sayEnd)

test('redis keeps its data and its connected clients', () =>
  branchThreeWays({
    start: async (env) => {
      await run(
        env,
        'redis-server --port 6399 --unixsocket /root/redis.sock --save "" > /root/redis.log &',
      )
      await runUntilDone(env, 'redis-cli -p 6399 PING')
      await run(
        env,
        'redis-cli -p 6399 SET greeting "hello there"; redis-cli -p 6399 LPUSH list 3 2 1',
      )
      await run(env, "redis-cli -p 6399 EVAL \"for i=1,20000 do redis.call('set','k'..i,i) end\" 0")
      await Promise.all([tcp.start(env), unix.start(env)])
      await tcp.ask(env, 'CLIENT SETNAME worker')
      await unix.ask(env, 'SELECT 3')
      await unix.ask(env, 'SET where "database three"')
    },
    check: async (env) => {
      expect(await tcp.ask(env, 'GET greeting')).toBe('hello there')
      expect(wordsOf(await tcp.ask(env, 'LRANGE list 0 2'))).toEqual(['1', '2', '3'])
      expect(await tcp.ask(env, 'DBSIZE')).toMatch(/^2000[2-4]$/)
      expect(await tcp.ask(env, 'CLIENT GETNAME')).toBe('worker')
      expect(await unix.ask(env, 'GET where')).toBe('database three')
    },
    mark: async (env, word) => {
      await tcp.ask(env, `RPUSH marks ${word}`)
    },
    marks: async (env) => wordsOf(await tcp.ask(env, 'LRANGE marks 0 -1')),
  }))
