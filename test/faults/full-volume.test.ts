// A volume that fills up at any moment of a snapshot: while memory is dumped, while files are
// sealed, while the successor is made. The free space varies in small steps to reach all of them.
import { afterAll, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import { ResourceError } from '../../src/index.ts'
import { failureOf } from '../support/failure-of.ts'
import { fillVolume } from '../support/fill-volume.ts'
import { TestHome } from '../support/test-home.ts'
import { volumeKind } from '../support/volume-kind.ts'

// Spares would take and free space in the meantime.
const home = new TestHome('full-volume', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())
const block = 4096

test('at whatever step of a snapshot the disk is full, the environment continues', async () => {
  await using fp = await home.open({ 'volume.size': '300m' })
  const env = await fp.create({ name: 'subject' })
  await env.exec('cd /root; x=0; echo kept > f')
  await env.snapshot({ durable: true })
  // Those after the first hold only what has changed.
  const second = await env.snapshot({ durable: true })
  const needed = second.lastInfo.sizes.imagesBytes
  const failures = new Set<string>()
  let succeeded = 0
  // After one that failed, the next one writes everything again.
  for (let blocks = -12; blocks < 400 && succeeded < 2; blocks += 1) {
    await env.exec(`x=${blocks}`)
    const filling = fillVolume(placesOf(home.path).data, needed + blocks * block)
    const failure = await failureOf(env.snapshot())
    filling[Symbol.dispose]()
    if (failure === null) succeeded += 1
    else {
      expect(failure).toBeInstanceOf(ResourceError)
      const { message, cause } = failure as ResourceError
      failures.add(`${message} ${String(cause).replaceAll(/[es]?[0-9a-z]{11,}/g, '')}`)
    }
    expect((await env.exec('echo $x $(cat /root/f)')).stdout).toBe(`${blocks} kept\n`)
  }
  expect(succeeded).toBe(2)
  const messages = [...failures].join('\n')
  expect(messages).toContain('criu dump failed')
  // In place, only images and shared memory are written; they fail in fewer ways than layers and successors.
  expect(failures.size, messages).toBeGreaterThan(volumeKind === 'ext4' ? 2 : 1)
})
