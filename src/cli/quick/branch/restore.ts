import { sendOperation } from '../../../client/link/send-operation.ts'
import { isEnvironmentId, isSnapshotId } from '../../../model/ids.ts'
import { restoreReport, restoring } from '../../render/branch-reports.ts'
import { complete, foundId, named, whole } from './answers.ts'
import type { QuickVerb } from './quick-verb.ts'

export const restore: QuickVerb = {
  options: { words: 2, flags: { '--json': 'json' } },
  prepare: async (link, { words: [reference = '', wanted = ''], flags }) => {
    const [environment, snapshot] = await Promise.all([
      sendOperation(link, 'environment.get', { reference }),
      sendOperation(link, 'snapshot.get', { reference: wanted }),
    ])
    const id = foundId(environment, isEnvironmentId)
    const to = foundId(snapshot, isSnapshotId)
    return {
      doing: restoring(reference),
      carryOut: async () => {
        const answer = await sendOperation(link, 'environment.restore', { id, to, force: false })
        const restored = flags.has('json') ? null : complete(answer)
        const report = restoreReport(
          restored ?? (await whole(link, 'environment.restore', answer)),
          named(snapshot) ?? (await whole(link, 'snapshot.get', snapshot)),
        )
        return { report, errors: [] }
      },
    }
  },
}
