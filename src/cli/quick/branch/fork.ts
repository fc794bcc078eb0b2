import { sendOperation } from '../../../client/link/send-operation.ts'
import { isEnvironmentId, isSnapshotId } from '../../../model/ids.ts'
import { parseName } from '../../../model/values/names.ts'
import { parseCount } from '../../../model/values/quantities.ts'
import { forking, forkReport } from '../../render/branch-reports.ts'
import type { Named } from '../../render/environment.ts'
import { complete, foundId, whole } from './answers.ts'
import { detailOf } from './plain-words.ts'
import type { QuickVerb } from './quick-verb.ts'

export const fork: QuickVerb = {
  options: {
    words: 1,
    values: { '-n': 'count', '--count': 'count', '--name': 'name' },
    flags: { '-q': 'quiet', '--quiet': 'quiet', '--json': 'json' },
  },
  prepare: async (link, { words: [reference = ''], values, flags }) => {
    const count = parseCount(values.get('count') ?? 1)
    const name = values.get('name')
    const options = { count, atomic: false, ...(name !== undefined && { name: parseName(name) }) }
    const found = await sendOperation(link, 'find', { reference })
    const id = foundId(found, (given) => isEnvironmentId(given) || isSnapshotId(given))
    const make = () =>
      isSnapshotId(id)
        ? sendOperation(link, 'snapshot.fork', { id, ...options })
        : sendOperation(link, 'environment.fork', { id, ...options })
    return {
      doing: forking(reference),
      carryOut: async () => {
        const answer = await make()
        const detail = detailOf(flags)
        const plain = flags.has('json') ? null : allComplete(answer)
        if (plain !== null) return { report: forkReport(plain, [], detail), errors: [] }
        const made = await whole(link, 'snapshot.fork', answer)
        const environments = made.flatMap((each) => ('error' in each ? [] : [each]))
        const errors = made.flatMap((each) => ('error' in each ? [each.error] : []))
        return { report: forkReport(environments, errors, detail), errors }
      },
    }
  },
}

/** Null unless the answer is all that was asked for. */
function allComplete(answer: unknown): Named[] | null {
  if (!Array.isArray(answer)) return null
  const all = answer.map(complete)
  return all.every((each) => each !== null) ? all : null
}
