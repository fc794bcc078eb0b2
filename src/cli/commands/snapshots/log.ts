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
        'Show what was done to an environment, when, and how long each step took. One that was removed keeps its log. Of one that runs, its running and detached commands follow.',
      )
      .argument('[env]', `${envArgument}, also of one that was removed`)
      .option('--criu [log]', "print CRIU's log of the last failure, or the one of this name")
      .action((reference: string | undefined, { criu }: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          if (criu !== undefined) return await showFailures(context, forkpoint, criu)
          if (reference === undefined) throw noEnvironment()
          const entries = await forkpoint.log(reference)
          const commands = context.globals.json ? [] : await commandsOf(forkpoint, reference)
          await context.show({
            json: entries,
            text: (style) => {
              const log = renderLog(entries, Date.now(), style)
              return commands.length === 0 ? log : `${log}\n\n${renderCommands(commands, style)}`
            },
          })
        }),
      ),
    [
      ['forkpoint log web', 'what happened, and how long it took'],
      ['forkpoint log --criu', 'why the last snapshot or restore failed, in detail'],
      ['forkpoint log web --json | jq \'.[] | select(.state == "failed")\'', 'what failed'],
    ],
  )

/** The commands that its agent still knows; none if it does not run, and it is not woken for this. */
async function commandsOf(forkpoint: Forkpoint, reference: string): Promise<CommandInfo[]> {
  try {
    const environment = await forkpoint.get(reference)
    return environment.lastInfo.status === 'running' ? await environment.commands() : []
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
