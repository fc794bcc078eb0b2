// The real spawner, with programs of the system.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { BackendError, PrerequisiteError } from '../../../src/index.ts'
import { Spawner } from '../../../src/linux/spawner.ts'
import { toolsOf } from '../../../src/linux/tools.ts'
import { patiently } from '../../support/patiently.ts'

const spawner = new Spawner()
const tools = toolsOf(spawner)
afterAll(() => spawner[Symbol.dispose]())

const mebibyte = 1024 ** 2

test('megabytes of input and output arrive completely', async () => {
  const text = 'ä line of several words\n'.repeat(300_000)
  const { stdout, exitCode } = await spawner.run(['cat'], { input: text })
  expect([exitCode, stdout === text]).toEqual([0, true])
})

test('a program that does not read its input keeps nobody waiting', async () => {
  const abort = new AbortController()
  const input = 'x'.repeat(4 * mebibyte)
  const slow = spawner.run(['sleep', '20'], { input, signal: abort.signal })
  expect((await spawner.run(['echo', 'quick'])).stdout).toBe('quick\n')
  abort.abort()
  expect(await slow).toMatchObject({ exitCode: null, signal: 9 })
})

test('a request that is too long fails alone', async () => {
  const other = spawner.run(['sh', '-c', 'sleep 0.2; echo whole'])
  const input = 'x'.repeat(17 * mebibyte)
  await expect(spawner.run(['cat'], { input })).rejects.toThrow(BackendError)
  expect((await other).stdout).toBe('whole\n')
})

test('thousands of arguments all arrive', async () => {
  const { stdout } = await spawner.run(['sh', '-c', 'echo $#', 'sh', ...Array(20_000).fill('x')])
  expect(stdout).toBe('20000\n')
})

test('too many arguments for the kernel are reported as such, and not as a missing program', async () => {
  const words = Array(3 * mebibyte).fill('x')
  await expect(tools.mustRun('echoing', 'echo', words)).rejects.toThrow(/Argument list too long/)
  await expect(tools.run('no-such-program', [])).rejects.toThrow(PrerequisiteError)
})

test.each([
  ['keeps running', 'exec cat /dev/zero'],
  ['has already ended', 'exec head -c 17000000 /dev/zero'],
])('a program that prints too much and %s fails, with the reason', async (_, script) => {
  const { exitCode, stdout, stderr } = await spawner.run(['sh', '-c', script])
  expect([exitCode, stdout, stderr]).toEqual([null, '', 'it said more than 16 MiB\n'])
})

test('the end of long error output is kept', async () => {
  const script = 'yes wrong | head -c 1000000 >&2; echo at last >&2; exit 3'
  const { exitCode, stderr } = await spawner.run(['sh', '-c', script])
  expect(exitCode).toBe(3)
  expect(stderr).toMatch(/wrong\n.*at last\n$/s)
})

test('we do not wait for the output of a process that outlives its program', async () => {
  const script = 'sleep 1000 & echo $! >&2; head -c 60000 /dev/zero'
  const { stdout, stderr } = await spawner.run(['sh', '-c', script])
  expect(stdout).toHaveLength(60_000)
  expect(process.kill(Number(stderr), 'SIGKILL')).toBe(true)
})

test('nothing is started if the signal is already aborted', async () => {
  const signal = AbortSignal.abort(new Error('called off'))
  await expect(spawner.run(['sleep', '20'], { signal })).rejects.toThrow('called off')
})

test('workers that end immediately are not started again and again', async () => {
  await spawner.run(['true'])
  const before = faultsOfEnded()
  spawner.prepare(['worker', '--kdat', '/nothing', '--', '/bin/true'], 2)
  await expect.poll(faultsOfEnded, patiently).toBeGreaterThan(before)
  const moreEnd = async () => {
    const seen = faultsOfEnded()
    await sleep(300)
    return faultsOfEnded() !== seen
  }
  await expect.poll(moreEnd, patiently).toBe(false)
})

test('killing a spawner fails what it runs, and the next use starts another', async () => {
  using own = new Spawner()
  const before = new Set(helpers())
  await own.run(['true'])
  const [pid] = helpers().filter((each) => !before.has(each))
  const slow = own.run(['sleep', '2'])
  process.kill(Number(pid), 'SIGKILL')
  await expect(slow).rejects.toThrow('the helper that starts processes ended: killed by SIGKILL')
  expect((await own.run(['echo', 'again'])).stdout).toBe('again\n')
})

test('a new spawner knows the workers of one that was killed', async () => {
  using own = new Spawner()
  const before = new Set(helpers())
  own.prepare(['worker', '--kdat', '/nothing/there', '--', '/bin/true'], 0)
  const slow = own.run(['sleep', '2'])
  const [pid] = helpers().filter((each) => !before.has(each))
  process.kill(Number(pid), 'SIGKILL')
  await expect(slow).rejects.toThrow('killed by SIGKILL')
  expect((await own.job([], Buffer.alloc(0))).stderr).toContain('/nothing/there')
})

test('two of them are independent, and each ends with its owner', async () => {
  const before = helpers()
  using kept = new Spawner()
  const slow = kept.run(['sh', '-c', 'sleep 0.3; echo whole'])
  const closed = new Spawner()
  const late = closed.run(['sh', '-c', 'sleep 0.1; echo finished'])
  closed[Symbol.dispose]()
  expect((await late).stdout).toBe('finished\n')
  expect((await slow).stdout).toBe('whole\n')
  // Cleaning up still works after its owner has closed.
  expect((await closed.run(['echo', 'late'])).stdout).toBe('late\n')
  await expect.poll(() => helpers().length, patiently).toBe(before.length + 1)
})

/** A number that grows with each process that the spawner has seen end: their page faults. */
function faultsOfEnded(): number {
  const stat = readFileSync(`/proc/${helpers()[0]}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[9])
}

/** The processes behind the spawners of this one. */
function helpers(): string[] {
  const own = readdirSync('/proc/self/task').flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  )
  return own.filter((child) => cmdline(child).includes('keeper'))
}

function cmdline(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    // It has ended.
    return ''
  }
}

test('a program that talks says its line first, and ends when it was told something', async () => {
  const talk = await spawner.talk([
    'sh',
    '-c',
    'echo ready; read -r word; echo "heard $word"; exit 3',
  ])
  expect(talk.said).toBe('ready')
  expect(await talk.tell('hello\n')).toMatchObject({ exitCode: 3, stdout: 'heard hello\n' })
})

test('a program that ends before it has said anything, or before it is told anything, is known to have ended', async () => {
  const silent = await spawner.talk(['sh', '-c', 'exit 4'])
  expect([silent.said, (await silent.tell('x')).exitCode]).toEqual(['', 4])
  const hasty = await spawner.talk(['sh', '-c', 'echo ready; exit 5'])
  await spawner.run(['sleep', '0.1'])
  expect([hasty.said, (await hasty.tell('x')).exitCode]).toEqual(['ready', 5])
  const missing = await spawner.talk(['no-such-program'])
  expect((await missing.tell('')).exitCode).toBe(127)
})
