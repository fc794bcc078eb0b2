import { expect, test } from 'vitest'
import { firstLine, kill, start, temporaryHome, temporaryStore } from './temporary-store.ts'

test('what is reserved counts until it is given up', () => {
  const { reservations } = temporaryStore()
  reservations.set('a', 100)
  reservations.set('b', 20)
  expect(reservations.totalBytes()).toBe(120)
  reservations.set('a', 50)
  expect(reservations.totalBytes()).toBe(70)
  reservations.set('a', 0)
  reservations.set('a', 0)
  expect(reservations.totalBytes()).toBe(20)
})

test('what another process reserves counts until that process ends', async () => {
  const home = temporaryHome()
  const child = start('reserve', home, '1000')
  expect(await firstLine(child)).toBe('reserved')
  const { reservations } = temporaryStore(home)
  reservations.set('own', 10)
  expect(reservations.totalBytes()).toBe(1010)
  await kill(child)
  expect(reservations.totalBytes()).toBe(10)
})
