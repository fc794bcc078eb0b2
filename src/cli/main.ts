import { crash } from './crash.ts'
import { run } from './run.ts'

process.on('uncaughtException', crash)
process.exitCode = await run(process.argv.slice(2))
