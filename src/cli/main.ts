import { quickExec } from './quick/quick-exec.ts'

// No await at the top: the command line is bundled as CommonJS, which starts faster.
void quickExec(process.argv.slice(2)).then(async (ending) => {
  if (typeof ending === 'number') {
    process.exitCode = ending
    return
  }
  const { main, reportLate } = await import('./whole.ts')
  process.exitCode = await (ending === null ? main() : reportLate(ending))
})
