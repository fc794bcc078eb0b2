import type { CommandInfo, Forkpoint } from '../../../index.ts'
import { InvalidInputError, NotFoundError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import type { Context } from '../../context.ts'
import { addExamples, envArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { renderFailureLogs } from '../../render/failure-logs.ts'
import { renderLog } from '../../render/log.ts'
import { renderCommands } from '../../render/running.ts'

interface Options {
  /** true: the last one */
  readonly criu?: string | true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Show what was done to an environment and which commands ran in it, when, how long each took, and how it ended. One that was removed keeps its log. Commands that still run follow.',
      )
      .argument('[env]', `${envArgument}, also of one that was removed`)
      .option('--criu [log]', "print CRIU's log of the last failure, or the one of this name")
      .action((reference: string | undefined, { criu }: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          if (criu !== undefined) return await showFailures(context, forkpoint, criu)
          if (reference === undefined) throw noEnvironment()
          const [operations, commands, running] = await Promise.all([
            forkpoint.log(reference),
            forkpoint.commandLog(reference),
            context.globals.json ? [] : runningIn(forkpoint, reference),
          ])
          await context.show({
            json: { operations, commands },
            text: (style) => {
              const log = renderLog({ operations, commands }, Date.now(), style)
              return running.length === 0 ? log : `${log}\n\n${renderCommands(running, style)}`
            },
          })
        }),
      ),
    [
      ['forkpoint log web', 'what happened, and how long it took'],
      ['forkpoint log --criu', 'why the last snapshot or restore failed, in detail'],
      [
        'forkpoint log web --json | jq \'.operations[] | select(.state == "failed")\'',
        'what failed',
      ],
    ],
  )

/** The commands that run; none if it sleeps, and it is not woken for this. */
async function runningIn(forkpoint: Forkpoint, reference: string): Promise<CommandInfo[]> {
  try {
    const environment = await forkpoint.get(reference)
    if (environment.lastInfo.status !== 'running') return []
    return (await environment.commands()).filter(({ running }) => running)
  } catch (error) {
    if (error instanceof NotFoundError) return []
    throw error
  }
}

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
