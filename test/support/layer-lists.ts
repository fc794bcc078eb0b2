import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { NativeImage } from '../../src/backends/native/image.ts'
import { parseLayerName } from '../../src/backends/native/overlay/squash/layer-name.ts'

/** The layers of each ready snapshot that are a snapshot's, topmost first, oldest snapshot first. */
export function layerLists(home: { readonly path: string }): string[][] {
  const db = new DatabaseSync(join(home.path, 'db.sqlite'), { readOnly: true })
  try {
    const rows = db
      .prepare(`SELECT doc FROM snapshots WHERE status = 'ready' ORDER BY created_at, id`)
      .all()
    return rows.map(({ doc }) => {
      const { layers } = JSON.parse(String(doc)).image as NativeImage
      const names = layers.map(({ path }) => path.split('/').at(-1) ?? '')
      return names.filter((name) => parseLayerName(name) !== null)
    })
  } finally {
    db.close()
  }
}

/** How many layers the last snapshot has. */
export function lastDepth(home: { readonly path: string }): number {
  return layerLists(home).at(-1)?.length ?? 0
}
