// A volume that runs full at any moment of a snapshot: while memory is dumped, while files are
// sealed, while the successor is made. The space that is left is swept in small steps over all of it.
import { statfsSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import { ResourceError } from '../../src/index.ts'
import { failureOf } from '../support/failure-of.ts'
import { TestHome } from '../support/test-home.ts'

// Spares would take and give back space meanwhile.
const home = new TestHome('full-volume', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())
const block = 4096

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(placesOf(home.path).data)
  return bavail * bsize
}

test('at whatever step of a snapshot the disk is full, the environment goes on', async () => {
  await using fp = await home.open({ 'volume.size': '300m' })
  const env = await fp.create({ name: 'subject' })
  const filler = await fp.create({ name: 'filler' })
  await env.exec('cd /root; x=0; echo kept > f')
  await env.snapshot({ durable: true })
  // Those after the first hold only what has changed.
  const second = await env.snapshot({ durable: true })
  const needed = second.info.sizes.imagesBytes
  const failures = new Set<string>()
  let succeeded = 0
  for (let blocks = -12; blocks < 40 && succeeded < 2; blocks += 1) {
    await env.exec(`x=${blocks}`)
    await filler.exec(`fallocate -l ${freeBytes() - needed - blocks * block} /root/big`)
    const failure = await failureOf(env.snapshot())
    await filler.exec('rm -f /root/big')
    if (failure === null) succeeded += 1
    else {
      expect(failure).toBeInstanceOf(ResourceError)
      const { message, cause } = failure as ResourceError
      failures.add(`${message} ${String(cause).replaceAll(/[es]?[0-9a-z]{11,}/g, '')}`)
    }
    expect((await env.exec('echo $x $(cat /root/f)')).stdout).toBe(`${blocks} kept\n`)
  }
  expect(succeeded).toBe(2)
  const told = [...failures].join('\n')
  expect(told).toContain('criu dump failed')
  expect(failures.size, told).toBeGreaterThan(2)
})
