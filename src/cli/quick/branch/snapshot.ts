import { sendOperation } from '../../../client/link/send-operation.ts'
import { isEnvironmentId } from '../../../model/ids.ts'
import { parseName } from '../../../model/values/names.ts'
import { Interrupts } from '../../interrupts.ts'
import { snapshotReport, taking } from '../../render/branch-reports.ts'
import { cancelling, snapshotWords } from '../../waiting/cancelling.ts'
import { followSnapshot } from '../../waiting/follow-snapshot.ts'
import { foundId, operations, whole } from './answers.ts'
import { detailOf } from './plain-words.ts'
import type { QuickVerb } from './quick-verb.ts'

export const snapshot: QuickVerb = {
  options: {
    words: 1,
    values: { '--name': 'name', '-m': 'message', '--message': 'message' },
    flags: { '-q': 'quiet', '--quiet': 'quiet', '--json': 'json' },
  },
  prepare: async (link, { words: [reference = ''], values, flags }) => {
    const [name, message] = [values.get('name'), values.get('message')]
    const options = {
      ...(name !== undefined && { name: parseName(name) }),
      ...(message !== undefined && { message }),
    }
    const found = await sendOperation(link, 'environment.get', { reference })
    const id = foundId(found, isEnvironmentId)
    return {
      doing: taking(reference),
      carryOut: async (say) => {
        using interrupts = new Interrupts()
        const { signal } = interrupts
        const input = { id, ...options }
        using _following = followSnapshot(id, say, taking(reference), () => operations(link))
        const words = snapshotWords(reference)
        const answer = await cancelling(interrupts, process.stderr, words, () =>
          sendOperation(link, 'environment.snapshot', input, { signal }),
        )
        const taken = await whole(link, 'environment.snapshot', answer)
        return { report: snapshotReport(taken, detailOf(flags)), errors: [] }
      },
    }
  },
}
