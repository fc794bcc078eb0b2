import type { BackendFiles } from '../../../backend.ts'
import { fromRecord } from '../../instance.ts'
import type { Native } from '../../native.ts'
import { imageOf } from '../../snapshot/capture.ts'
import { readMembers } from '../squash/members.ts'
import { alignLayers } from './align.ts'
import { changesBetween } from './changes.ts'
import { digests, openFile } from './contents.ts'
import { copyOut } from './copy-out.ts'
import { baseOf, fromView, viewOf } from './native-view.ts'
import { unifiedPatch } from './patch.ts'
import { parseInsidePath } from './paths.ts'

/** Files read on the host through the layers, without mounting or waking anything. */
export function viewFiles({ places, settings: { ids } }: Native): BackendFiles {
  return {
    view: (id, instance) => {
      const { slot, layers } = fromRecord(instance)
      return viewOf([{ path: places.slot(id, slot).upper, ids: 'cell' }, ...layers])
    },
    snapshotView: (snapshot) => viewOf(imageOf(snapshot).layers),
    baseView: (view) => baseOf(fromView(view)),
    changes: (a, b, options = {}) => {
      const [before, after] = alignLayers(fromView(a).layers, fromView(b).layers, readMembers)
      return changesBetween(viewOf(before), viewOf(after), { ...options, ids })
    },
    patch: (change, a, b) => unifiedPatch(change, fromView(a), fromView(b)),
    openFile: (view, path) => openFile(fromView(view), path),
    digests: (view, paths) => digests(fromView(view), paths.map(parseInsidePath)),
    copyOut: (view, dir, specs, options) =>
      copyOut(fromView(view), dir, specs, { ...options, ids }),
  }
}
