import type { Ending } from './quick/ending.ts'
import { quickExec } from './quick/quick-exec.ts'

// No await at the top: the command line is bundled as CommonJS, which starts faster.
void quick(process.argv.slice(2)).then(async (ending) => {
  if (typeof ending === 'number') {
    process.exitCode = ending
    return
  }
  const { main, reportLate } = await import('./whole.ts')
  process.exitCode = await (ending === null ? main() : reportLate(ending))
})

/** Null if it takes the whole command line. */
async function quick(argv: readonly string[]): Promise<Ending | null> {
  switch (argv[0]) {
    case 'exec':
      return await quickExec(argv)
    case 'fork':
    case 'restore':
    case 'snapshot': {
      const { quickBranch } = await import('./quick/branch/quick-branch.ts')
      return await quickBranch(argv)
    }
    default:
      return null
  }
}
