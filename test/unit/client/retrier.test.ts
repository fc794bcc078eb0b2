import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { retrier } from '../../../src/client/link/retrier.ts'
import { ConnectionError } from '../../../src/model/errors.ts'

const cut = new Error('cut')
const refused = new Error('refused')

/** A daemon that answered before. */
async function known() {
  const retried = retrier({
    isUnreached: (error) => error === refused,
    isCut: (error) => error === cut,
    asError: (cause, happened) => new ConnectionError('gone', { remedy: 'wait', cause, happened }),
  })
  await retried('no', undefined, async () => 'hello')
  return retried
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Takes this long, then fails. */
async function failing(seconds: number, error: Error): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  throw error
}

test('an operation that takes longer than the patience survives the death of its daemon', async () => {
  const retried = await known()
  const tries = [() => failing(40, cut), () => failing(0, refused), async () => 'done']
  const result = retried('maybe', undefined, async () => await tries.shift()?.())
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await result).toBe('done')
})

test('a daemon that does not come back is waited for, but not forever', async () => {
  const retried = await known()
  const began = performance.now()
  const tries = [() => failing(40, cut)]
  const result = retried('maybe', undefined, async () => await (tries.shift() ?? refuse)())
  const failure = result.catch((error: unknown) => ({ error, ms: performance.now() - began }))
  await vi.advanceTimersByTimeAsync(200_000)
  const { error, ms } = (await failure) as { error: unknown; ms: number }
  expect(error).toMatchObject({ happened: 'maybe', cause: refused })
  expect(ms).toBeGreaterThan(70_000)
  expect(ms).toBeLessThan(72_000)
})

test('a request on which the daemon always dies is given up', async () => {
  const retried = await known()
  let sent = 0
  const result = retried('maybe', undefined, async () => {
    sent += 1
    throw cut
  })
  const failure = result.catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(200_000)
  expect(await failure).toBeInstanceOf(ConnectionError)
  expect(sent).toBe(51)
})

async function refuse(): Promise<never> {
  throw refused
}
