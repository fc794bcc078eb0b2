// Programs remember which file is which by its device and inode number. A copy has another device.
import { afterAll, expect, test } from 'vitest'
import type { Environment } from '../../../src/index.ts'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('remembered')
afterAll(() => home[Symbol.asyncDispose]())

/**
 * Holds a transaction open on one connection, with 200 MB of other memory. Asked to, it opens the database
 * once more, and says whether that connection could write, too.
 */
const writer = `
import os, sqlite3, time
ballast = bytearray(os.urandom(1 << 20)) * 200
def connect():
    c = sqlite3.connect('/root/db', timeout=0, isolation_level=None)
    c.execute('pragma journal_mode=wal')
    return c
one = connect()
one.execute('create table t(x)')
one.execute('begin immediate')
one.execute('insert into t values (1)')
open('/root/begun', 'w').close()
while not os.path.exists('/root/ask'): time.sleep(0.05)
try:
    connect().execute('begin immediate')
    answer = 'two writers'
except sqlite3.OperationalError as error:
    answer = str(error)
one.execute('commit')
with open('/root/part', 'w') as end: print(answer, *one.execute('select count(*) from t').fetchone(), file=end)
os.rename('/root/part', '/root/answer')
`
const answerOf = async (env: Environment) => {
  const { stdout } = await env.exec(
    'touch /root/ask; while ! [ -e /root/answer ]; do sleep 0.1; done; cat /root/answer',
  )
  return stdout
}

test('a copy of a process with an open SQLite transaction keeps other writers out', async () => {
  const fp = await home.open()
  const env = await fp.create()
  await env.files.write('/root/writer.py', writer)
  await env.exec('python3 /root/writer.py & while ! [ -e /root/begun ]; do sleep 0.1; done')
  const first = await env.snapshot()
  const [fork] = await first.fork(1)
  const second = await fork?.snapshot()
  const [deeper] = (await second?.fork(1)) ?? []
  expect(deeper && (await answerOf(deeper))).toBe('database is locked 1\n')
  expect(fork && (await answerOf(fork))).toBe('database is locked 1\n')
  await env.restore(first)
  expect(await answerOf(env)).toBe('database is locked 1\n')
})
