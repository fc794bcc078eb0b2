import type { EnvironmentId } from '../../../../model/ids.ts'
import type { BackendFiles } from '../../../backend.ts'
import type { Layer } from '../../cell/cell.ts'
import { imageOf } from '../../image.ts'
import { fromRecord, type NativeInstance } from '../../instance.ts'
import type { Native } from '../../native.ts'
import type { Places } from '../../places.ts'
import { readMembers } from '../squash/members.ts'
import { upperIn } from '../subvolumes/subvolumes.ts'
import { archive } from './archive.ts'
import { alignLayers } from './changes/align.ts'
import { changesBetween } from './changes/changes.ts'
import { askingBtrfs } from './changes/sent/compare-subvolumes.ts'
import { digests, openFile } from './contents.ts'
import { entriesBelow } from './listing.ts'
import { baseOf, fromView, type NativeView, viewOf } from './native-view.ts'
import { unifiedPatch } from './patch.ts'
import { parseInsidePath } from './paths.ts'

/** Reads files on the host through the layers, without mounting or waking anything. */
export function viewFiles({ log, places, settings: { ids }, tools }: Native): BackendFiles {
  const ask = askingBtrfs(tools, log)
  return {
    view: (id, instance) => liveView(places, id, fromRecord(instance)),
    snapshotView: (snapshot) => {
      const { layers, files } = imageOf(snapshot)
      if (files === undefined) return viewOf(layers)
      return subvolumeView(places.filesIn(snapshot.id), 'read-only', layers)
    },
    baseView: (view) => baseOf(fromView(view)),
    changes: (a, b, options = {}) => {
      const [one, other] = [fromView(a), fromView(b)]
      const [before, after] = alignLayers(one.layers, other.layers, readMembers)
      const views = [
        { ...one, layers: before },
        { ...other, layers: after },
      ] as const
      return changesBetween(...views, { ...options, ids, ask })
    },
    entries: (view, paths) => entriesBelow(fromView(view), paths, ids),
    patch: (change, a, b) => unifiedPatch(change, fromView(a), fromView(b)),
    openFile: (view, path) => openFile(fromView(view), path),
    digests: (view, paths) => digests(fromView(view), paths.map(parseInsidePath)),
    archive: (view, specs) => archive(fromView(view), specs, ids),
  }
}

/** The files of one life of an environment. */
export function liveView(
  places: Places,
  id: EnvironmentId,
  { slot, layers, files }: NativeInstance,
): NativeView {
  if (files === undefined) {
    return viewOf([{ path: places.slot(id, slot).upper, ids: 'cell' }, ...layers])
  }
  return subvolumeView(places.filesOf(id, slot), 'in-use', layers)
}

function subvolumeView(
  path: string,
  state: 'read-only' | 'in-use',
  layers: readonly Layer[],
): NativeView {
  return {
    ...viewOf([{ path: upperIn(path), ids: 'cell' }, ...layers]),
    subvolume: { path, state },
  }
}
