import { crash } from './crash.ts'
import { run } from './run.ts'

process.on('uncaughtException', crash)
// No await at the top: the command line is bundled as CommonJS, which starts faster.
void run(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode
})
