import { type ErrorJson, errorFromJson } from '../model/errors.ts'
import { Cli } from './cli.ts'
import { Context } from './context.ts'
import { crash } from './crash.ts'
import type { Incomplete } from './quick/ending.ts'
import { reportFailure } from './report-failure.ts'
import { run } from './run.ts'

/** The whole command line, with every verb; resolves to the exit code. */
export async function main(): Promise<number> {
  process.on('uncaughtException', crash)
  return await run(process.argv.slice(2))
}

/** Reports the failure of a command that began without the rest of the command line. */
export async function reportLate(ending: ErrorJson | Incomplete): Promise<number> {
  const argv = process.argv.slice(2)
  const cli = new Cli(process, argv)
  if (!('errors' in ending)) return await reportFailure(cli, errorFromJson(ending), argv)
  const context = new Context(cli, { json: argv.includes('--json') }, argv[0] ?? '')
  for (const error of ending.errors) await context.report(errorFromJson(error))
  return 1
}
