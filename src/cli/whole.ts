import { type ErrorJson, errorFromJson } from '../model/errors.ts'
import { Cli } from './cli.ts'
import { crash } from './crash.ts'
import { reportFailure } from './report-failure.ts'
import { run } from './run.ts'

/** The whole command line, with every verb; resolves to the exit code. */
export async function main(): Promise<number> {
  process.on('uncaughtException', crash)
  return await run(process.argv.slice(2))
}

/** Reports a failure of a command that began without the rest of the command line. */
export async function reportLate(error: ErrorJson): Promise<number> {
  const argv = process.argv.slice(2)
  return await reportFailure(new Cli(process, argv), errorFromJson(error), argv)
}
