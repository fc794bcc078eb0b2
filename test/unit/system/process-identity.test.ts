import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { identify, isAlive, parseStat, selfIdentity } from '../../../src/linux/process-identity.ts'

test('a running process is alive, and a later one with the same pid is different', () => {
  const self = selfIdentity()
  expect(isAlive(self)).toBe(true)
  expect(isAlive({ ...self, startTicks: self.startTicks - 1 })).toBe(false)
  expect(isAlive({ ...self, bootId: 'an earlier boot' })).toBe(false)
  expect(isAlive({ ...self, pid: 2 ** 22 + 1 })).toBe(false)
  expect(identify(2 ** 22 + 1)).toBeUndefined()
})

test('a process that was killed but not reaped yet is dead', async () => {
  // The shell becomes `sleep`, which never reaps the child it inherits.
  const parent = spawn('sh', ['-c', 'sleep 0.05 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    const [line] = await once(parent.stdout, 'data')
    const pid = Number(String(line).trim())
    const stat = () => parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    const identity = identify(pid)
    if (identity === undefined) throw new Error('it was over too soon')
    await expect.poll(() => stat().state).toBe('Z')
    expect(isAlive(identity)).toBe(false)
  } finally {
    parent.kill('SIGKILL')
  }
})

test('no program name can disguise the fields that follow it', () => {
  const rest = 'S 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987654 1000 10'
  const name = fc.string({ maxLength: 15 }).filter((text) => !text.includes('\0'))
  fc.assert(
    fc.property(fc.oneof(name, fc.constantFrom(') S 1 (', 'a b', ')', '(((', ') Z 0')), (comm) => {
      expect(parseStat(`77 (${comm}) ${rest}`)).toEqual({ state: 'S', startTicks: 987654 })
    }),
  )
})

test('what is not a stat line is refused', () => {
  expect(() => parseStat('')).toThrow(/not a \/proc/)
  expect(() => parseStat('77 (x) S 1 2')).toThrow(/not a \/proc/)
})
