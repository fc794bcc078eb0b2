import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ConflictError } from '../../../src/model/errors.ts'
import {
  exitCode,
  firstLine,
  kill,
  soon,
  start,
  temporaryHome,
  temporaryStore,
} from './temporary-store.ts'

test('two operations of one process never hold the same lease', async () => {
  const { leases } = temporaryStore()
  const first = await leases.acquire('env:x', 'first')
  expect(leases.tryAcquire('env:x', 'second')).toBeUndefined()
  expect(leases.tryAcquire('env:y', 'another resource')).toBeDefined()
  first.giveUp()
  expect(leases.tryAcquire('env:x', 'second')).toBeDefined()
})

test('a waiting operation gets the lease soon after it is free', async () => {
  const { leases } = temporaryStore()
  const first = await leases.acquire('volume', 'first')
  const second = leases.acquire('volume', 'second')
  setTimeout(() => first.giveUp(), 100)
  const before = performance.now()
  await using _lease = await second
  expect(performance.now() - before).toBeLessThan(5000)
  expect(leases.holder('volume')?.what).toBe('second')
})

test('a lease ends with its scope, and ending it again is harmless', async () => {
  const { leases } = temporaryStore()
  const first = await leases.acquire('net', 'first')
  {
    using _same = first
  }
  await using _second = await leases.acquire('net', 'second')
  first.giveUp()
  expect(leases.holder('net')?.what).toBe('second')
})

test('closing a store gives up its leases', async () => {
  const home = temporaryHome()
  const one = temporaryStore(home)
  const two = temporaryStore(home)
  await one.leases.acquire('net', 'one')
  expect(two.leases.tryAcquire('net', 'two')).toBeUndefined()
  one.close()
  expect(two.leases.tryAcquire('net', 'two')).toBeDefined()
})

test('giving up waiting reports who holds the lease, why and since when', async () => {
  const home = temporaryHome()
  const child = start('hold', home, 'env:x')
  await firstLine(child)
  const { leases } = temporaryStore(home)
  const waiting = leases.acquire('env:x', 'waiting', { timeoutMs: 100 })
  await expect(waiting).rejects.toThrow(ConflictError)
  await expect(waiting).rejects.toThrow(
    new RegExp(`env:x is in use by process ${child.pid} \\(holding for a test\\) for \\d+s`),
  )
})

test("waiting ends immediately when the caller aborts, with the caller's reason", async () => {
  const { leases } = temporaryStore()
  await using _held = await leases.acquire('env:x', 'first')
  const abort = new AbortController()
  const waiting = leases.acquire('env:x', 'second', { signal: abort.signal })
  setTimeout(() => abort.abort(new Error('changed my mind')), 20)
  await expect(waiting).rejects.toThrow('changed my mind')
  await expect(leases.acquire('free', 'x', { signal: abort.signal })).rejects.toThrow('changed')
  expect(leases.holder('free')).toBeUndefined()
})

test('the lease of a killed process is taken over', async () => {
  const home = temporaryHome()
  const child = start('hold', home, 'env:x')
  await firstLine(child)
  const { leases } = temporaryStore(home)
  expect(leases.tryAcquire('env:x', 'too early')).toBeUndefined()
  const waiting = leases.acquire('env:x', 'heir')
  await kill(child)
  await using _lease = await waiting
  expect(leases.holder('env:x')).toMatchObject({ what: 'heir', owner: { pid: process.pid } })
})

test('of several heirs of a killed process exactly one gets each lease', async () => {
  const home = temporaryHome()
  const resources = Array.from({ length: 200 }, (_, i) => `env:${i}`)
  const child = start('hold', home, ...resources)
  await firstLine(child)
  await kill(child)
  const at = soon()
  const heirs = Array.from({ length: 4 }, () => start('inherit', home, at, ...resources))
  const lines = await Promise.all(heirs.map(firstLine))
  const inherited = lines.flatMap((line): string[] => JSON.parse(line))
  expect(inherited.sort()).toEqual(resources.sort())
})

test('eight processes under one lease never overlap', async () => {
  const home = temporaryHome()
  const counter = join(home, 'counter')
  writeFileSync(counter, '0')
  const children = Array.from({ length: 8 }, () => start('count', home, counter, '20'))
  expect(await Promise.all(children.map(exitCode))).toEqual(Array(8).fill(0))
  expect(readFileSync(counter, 'utf8')).toBe('160')
})

test('killing processes at random while they take turns blocks nobody', async () => {
  const home = temporaryHome()
  const counter = join(home, 'counter')
  writeFileSync(counter, '0')
  const victims = Array.from({ length: 3 }, () => start('count', home, counter, '100000'))
  await expect
    .poll(() => Number(readFileSync(counter, 'utf8')), { timeout: 20_000 })
    .toBeGreaterThan(5)
  await Promise.all(victims.map(kill))
  const { leases } = temporaryStore(home)
  await using _lease = await leases.acquire('counter', 'the survivor', { timeoutMs: 2000 })
})

test('whoever seizes a lease has it, and its old holder finds out before it commits', async () => {
  const { leases } = temporaryStore()
  const stuck = await leases.acquire('env:x', 'snapshot')
  stuck.requireHeld()
  const taken = await leases.seize('env:x', 'remove', { timeoutMs: 20 })
  expect(taken.loser).toMatchObject({ what: 'snapshot' })
  expect(stuck.isHeld()).toBe(false)
  expect(() => stuck.requireHeld()).toThrow(ConflictError)
  // It no longer owns what it gives up.
  stuck.giveUp()
  expect(taken.isHeld()).toBe(true)
  taken.giveUp()
  expect(taken.isHeld()).toBe(false)
})

test('seizing a lease first waits for its holder to finish', async () => {
  const { leases } = temporaryStore()
  const busy = await leases.acquire('env:x', 'snapshot')
  const taking = leases.seize('env:x', 'remove')
  setTimeout(() => busy.giveUp(), 50)
  expect((await taking).loser).toBe(null)
})
