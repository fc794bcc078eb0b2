import { mkdirSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Layer } from '../../../src/backends/native/cell/cell.ts'
import { type NativeImage, toImageRecord } from '../../../src/backends/native/image.ts'
import { overCurrentLayers } from '../../../src/backends/native/overlay/squash/current-layers.ts'
import { squashedLayer } from '../../../src/backends/native/overlay/squash/layer-name.ts'
import { newSnapshotId } from '../../../src/model/ids.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

/** An image over two layers that have been squashed since, and how it is listed. */
async function listed(pinned: boolean) {
  using dir = new TemporaryDirectory()
  const layer = (): Layer => ({ path: dir.file(newSnapshotId()), ids: 'cell' })
  const [own, upper, lower] = [layer(), layer(), layer()]
  mkdirSync(own.path)
  writeFileSync(`${own.path}/file`, '')
  const squashed = squashedLayer([upper, lower])
  const layers = [own, upper, lower]
  const image: NativeImage = { kind: 'native', captured: ['processes'], layers, pinned }
  const head = { image: toImageRecord({ ...image, layers: [squashed] }) }
  const { layers: current } = await overCurrentLayers(image, [upper, lower], head)
  return { current, layers, own, squashed }
}

test('a captured image is listed over the squashed layers', async () => {
  const { current, own, squashed } = await listed(false)
  expect(current).toEqual([own, squashed])
})

test('an image that needs the layers it was captured over keeps them', async () => {
  const { current, layers } = await listed(true)
  expect(current).toEqual(layers)
})
