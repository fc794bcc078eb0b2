import { samplesOf } from '../results.ts'
import { ratio } from '../statistics.ts'
import { type Promised, session, typical } from './promised.ts'

const changedMb = 32

function first(on: string) {
  return { by: 'forkpoint', what: 'pause, first snapshot', on } as const
}

/** What a snapshot costs the environment that it is taken of. */
export const pausePromises: readonly Promised[] = [
  {
    group: 'pause',
    what: 'pause of Python 2 GB, first snapshot, against idle Python',
    unit: 'times',
    promised: { below: 1.5 },
    measure: ({ pause }) =>
      ratio(samplesOf(pause, first('Python 2 GB')), samplesOf(pause, first('Python 1 MB'))),
  },
  {
    group: 'pause',
    what: `snapshot of ${session} after a change of ${changedMb} MB, bytes of the change`,
    unit: 'times',
    promised: { below: 1.3 },
    measure: ({ pause }) => {
      const written = typical(pause, session, `written, ${changedMb} MB changed`)
      return written === null ? null : written / (changedMb * 2 ** 20)
    },
  },
]
