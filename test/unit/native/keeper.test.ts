// What programs are started by: the real one, with programs of the system.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { BackendError, PrerequisiteError } from '../../../src/index.ts'
import { keeperDismiss, keeperPrepare, keeperRun } from '../../../src/linux/keeper.ts'
import { mustRun, runTool } from '../../../src/linux/run-tool.ts'
import { patiently } from '../../support/patiently.ts'

afterEach(() => keeperDismiss())

const mebibyte = 1024 ** 2

test('input and output of some megabytes come through whole', async () => {
  const text = 'ä line of several words\n'.repeat(300_000)
  const { stdout, exitCode } = await keeperRun(['cat'], { input: text })
  expect([exitCode, stdout === text]).toEqual([0, true])
})

test('a program that does not read its input keeps nobody waiting', async () => {
  const abort = new AbortController()
  const input = 'x'.repeat(4 * mebibyte)
  const slow = keeperRun(['sleep', '20'], { input, signal: abort.signal })
  expect((await keeperRun(['echo', 'quick'], {})).stdout).toBe('quick\n')
  abort.abort()
  expect(await slow).toMatchObject({ exitCode: null, signal: 9 })
})

test('a request that is too long fails alone', async () => {
  const other = keeperRun(['sh', '-c', 'sleep 0.2; echo whole'], {})
  const input = 'x'.repeat(17 * mebibyte)
  await expect(keeperRun(['cat'], { input })).rejects.toThrow(BackendError)
  expect((await other).stdout).toBe('whole\n')
})

test('thousands of arguments all arrive', async () => {
  const { stdout } = await keeperRun(['sh', '-c', 'echo $#', 'sh', ...Array(20_000).fill('x')], {})
  expect(stdout).toBe('20000\n')
})

test('more arguments than the kernel takes are told, and not for a lack of programs', async () => {
  const words = Array(3 * mebibyte).fill('x')
  await expect(mustRun('echoing', 'echo', words)).rejects.toThrow(/Argument list too long/)
  await expect(runTool('no-such-program', [])).rejects.toThrow(PrerequisiteError)
})

test.each([
  ['goes on', 'exec cat /dev/zero'],
  ['has ended by then', 'exec head -c 17000000 /dev/zero'],
])('a program that says too much and %s has failed, with the reason', async (_, script) => {
  const { exitCode, stdout, stderr } = await keeperRun(['sh', '-c', script], {})
  expect([exitCode, stdout, stderr]).toEqual([null, '', 'it said more than 16 MiB\n'])
})

test('of long complaints the end is kept', async () => {
  const script = 'yes wrong | head -c 1000000 >&2; echo at last >&2; exit 3'
  const { exitCode, stderr } = await keeperRun(['sh', '-c', script], {})
  expect(exitCode).toBe(3)
  expect(stderr).toMatch(/wrong\n.*at last\n$/s)
})

test('output of a process that outlives its program is not waited for', async () => {
  const script = 'sleep 1000 & echo $! >&2; head -c 60000 /dev/zero'
  const { stdout, stderr } = await keeperRun(['sh', '-c', script], {})
  expect(stdout).toHaveLength(60_000)
  expect(process.kill(Number(stderr), 'SIGKILL')).toBe(true)
})

test('nothing is started for a signal that was given before', async () => {
  const signal = AbortSignal.abort(new Error('called off'))
  await expect(keeperRun(['sleep', '20'], { signal })).rejects.toThrow('called off')
})

test('workers that end at once are not started over and over', async () => {
  await keeperRun(['true'], {})
  const before = faultsOfEnded()
  keeperPrepare(['worker', '--kdat', '/nothing', '--', '/bin/true'], 2)
  await expect.poll(faultsOfEnded, patiently).toBeGreaterThan(before)
  const moreEnd = async () => {
    const seen = faultsOfEnded()
    await sleep(300)
    return faultsOfEnded() !== seen
  }
  await expect.poll(moreEnd, patiently).toBe(false)
})

/** A number that grows with each process that the keeper has seen end: their page faults. */
function faultsOfEnded(): number {
  const stat = readFileSync(`/proc/${keeperPid()}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[9])
}

function keeperPid(): string {
  const own = readdirSync('/proc/self/task').flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  )
  const pid = own.find((child) => readFileSync(`/proc/${child}/cmdline`).includes('keeper'))
  if (pid === undefined) throw new Error('no keeper')
  return pid
}
