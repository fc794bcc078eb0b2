import { mkdirSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Layer } from '../../../src/backends/native/cell/cell.ts'
import { overCurrentLayers } from '../../../src/backends/native/overlay/squash/current-layers.ts'
import { squashedLayer } from '../../../src/backends/native/overlay/squash/layer-name.ts'
import type { NativeImage } from '../../../src/backends/native/snapshot/capture.ts'
import { newSnapshotId } from '../../../src/model/ids.ts'
import type { SnapshotRecord } from '../../../src/model/snapshot.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

/** An image over two layers that have been merged since, and what it is listed as. */
async function listed(pinned: boolean) {
  using dir = new TemporaryDirectory()
  const layer = (): Layer => ({ path: dir.file(newSnapshotId()), ids: 'cell' })
  const [own, upper, lower] = [layer(), layer(), layer()]
  mkdirSync(own.path)
  writeFileSync(`${own.path}/file`, '')
  const merged = squashedLayer([upper, lower])
  const head = { image: { kind: 'native', layers: [merged] } } as unknown as SnapshotRecord
  const layers = [own, upper, lower]
  const image: NativeImage = { kind: 'native', captured: ['processes'], layers, pinned }
  const { layers: current } = await overCurrentLayers(image, [upper, lower], head)
  return { current, layers, own, merged }
}

test('what was captured is listed over the merged layers', async () => {
  const { current, own, merged } = await listed(false)
  expect(current).toEqual([own, merged])
})

test('what needs the very layers that it was captured over keeps them', async () => {
  const { current, layers } = await listed(true)
  expect(current).toEqual(layers)
})
