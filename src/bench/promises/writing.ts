import { samplesOf } from '../results.ts'
import { ratio } from '../statistics.ts'
import type { Promised } from './promised.ts'

const tasks = ['untar 11000 files', '30000 small files', 'cp -r 11000 files', 'npm ci 150 packages']
const ends = ['until it returns', 'until sync']

/** Writing inside costs little more than it would on ext4. */
export const writingPromises: readonly Promised[] = tasks.flatMap((on) =>
  ends.map((what): Promised => {
    const sought = { what, on }
    return {
      group: 'writing',
      what: `${on} inside, ${what}: against ext4`,
      unit: 'times',
      promised: { below: 1.3 },
      measure: ({ writing }) =>
        ratio(
          samplesOf(writing, { by: 'forkpoint', ...sought }),
          samplesOf(writing, { by: 'ext4', ...sought }),
        ),
    }
  }),
)
