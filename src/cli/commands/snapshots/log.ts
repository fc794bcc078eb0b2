import type { Forkpoint } from '../../../index.ts'
import { InvalidInputError, NotFoundError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import type { Context } from '../../context.ts'
import { addExamples, envArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { renderFailureLogs } from '../../render/failure-logs.ts'
import { renderLog } from '../../render/log.ts'

interface Options {
  /** true: the last one */
  readonly criu?: string | true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Show what was done to an environment, when, and how long each step took. One that was removed keeps its log.',
      )
      .argument('[env]', `${envArgument}, also of one that was removed`)
      .option('--criu [log]', "print CRIU's log of the last failure, or the one of this name")
      .action((reference: string | undefined, { criu }: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          if (criu !== undefined) return await showFailures(context, forkpoint, criu)
          if (reference === undefined) throw noEnvironment()
          const entries = await forkpoint.log(reference)
          await context.show({
            json: entries,
            text: (style) => renderLog(entries, Date.now(), style),
          })
        }),
      ),
    [
      ['forkpoint log web', 'what happened, and how long it took'],
      ['forkpoint log --criu', 'why the last snapshot or restore failed, in detail'],
      ['forkpoint log web --json | jq \'.[] | select(.state == "failed")\'', 'what failed'],
    ],
  )

async function showFailures(
  context: Context,
  forkpoint: Forkpoint,
  wanted: string | true,
): Promise<void> {
  const all = await forkpoint.failureLogs()
  const logs = wanted === true ? all : all.filter(({ name }) => name === wanted)
  if (wanted !== true && logs.length === 0) {
    throw new NotFoundError(`no log ${quote(wanted)}`, {
      remedy: '`forkpoint log --criu` lists those that are kept',
    })
  }
  await context.show({
    json: logs,
    text: (style) => renderFailureLogs(logs, Date.now(), style),
  })
}

function noEnvironment(): InvalidInputError {
  return new InvalidInputError('no environment was named', {
    remedy: 'name one; `forkpoint ls` lists them',
  })
}
