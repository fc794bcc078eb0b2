import { expect, test } from 'vitest'
import { branchThreeWays } from '../support/workloads/branch-three-ways.ts'
import { dialogue } from '../support/workloads/dialogue.ts'
import { wordsOf } from '../support/workloads/run.ts'

const session = dialogue('session', 'sqlite3 /root/shop.db', (mark) => `.print ${mark}`)

test.each(['delete', 'wal'])(
  'sqlite keeps an open transaction and its locks (%s journal)',
  (mode) =>
    branchThreeWays({
      start: async (env) => {
        await session.start(env)
        expect(await session.ask(env, `PRAGMA journal_mode = ${mode};`)).toBe(mode)
        await session.ask(
          env,
          "CREATE TABLE orders(word); INSERT INTO orders VALUES ('committed');",
        )
        await session.ask(env, "BEGIN IMMEDIATE; INSERT INTO orders VALUES ('uncommitted');")
      },
      check: async (env) => {
        const words = wordsOf(await session.ask(env, 'SELECT word FROM orders ORDER BY rowid;'))
        expect(words.slice(0, 2)).toEqual(['committed', 'uncommitted'])
        const visible = await env.exec('sqlite3 /root/shop.db "SELECT word FROM orders"')
        expect(visible.stdout).toBe('committed\n')
        const writing = await env.exec('sqlite3 /root/shop.db "INSERT INTO orders VALUES (1)"')
        expect(writing.stderr).toContain('database is locked')
      },
      mark: async (env, word) => {
        expect(await session.ask(env, `INSERT INTO orders VALUES ('${word}');`)).toBe('')
      },
      marks: async (env) =>
        wordsOf(await session.ask(env, 'SELECT word FROM orders ORDER BY rowid;')).slice(2),
    }),
)
