import { insidePaths } from '../../api/contract/routes.ts'
import { fields, options } from '../../api/inputs/checked.ts'
import { listCommandsInput } from '../../api/inputs/exec-inputs.ts'
import * as v from '../../api/inputs/values.ts'
import { NotFoundError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import { wantedForm } from '../routes/lines.ts'
import { encoding, outputSoFar, sendOutput } from './command-output.ts'
import { type InsideApp, insideRoute } from './inside-route.ts'

const longestInput = 16 * 1024 ** 2
const longestWaitMs = 60_000
const defaultWaitMs = 200

const outputInput = options({
  /** bytes of each that are known already */
  stdout: v.whole(0),
  stderr: v.whole(0),
  /** how long to wait for the end */
  waitMs: v.whole(0, longestWaitMs),
  encoding,
  /** leaves the output to whoever follows the command now */
  readAlong: v.truth,
})
const sentInput = options({ data: v.text(longestInput), encoding, end: v.truth })
const signalInput = fields({ signal: v.word }, { graceMs: v.whole(1) })

/** Commands that run or ran inside, by their ids. */
export function addCommands(to: InsideApp): void {
  insideRoute(
    to,
    {
      method: 'GET',
      path: insidePaths.commands,
      operation: 'command.list',
      scope: 'exec',
      summary:
        'the commands that run or were left to themselves; with `last`, also the one that ended last',
      input: listCommandsInput,
      answers: 'json',
    },
    ({ environment, input }) => environment.commands(input),
  )
  insideRoute(
    to,
    {
      method: 'GET',
      path: 'commands/{command}',
      operation: 'command.get',
      scope: 'exec',
      summary: 'one command',
      input: options({}),
      answers: 'json',
    },
    async ({ environment, params: { command: id } }) => {
      const found = (await environment.commands()).find((each) => each.id === id)
      if (found !== undefined) return found
      throw new NotFoundError(`no command ${quote(id)}`, { remedy: 'list the commands' })
    },
  )
  insideRoute(
    to,
    {
      method: 'GET',
      path: insidePaths.output,
      operation: 'command.output',
      scope: 'exec',
      summary: 'output after the given offsets: what there is, or lines until the command ends',
      input: outputInput,
      answers: 'json',
    },
    async ({
      environment,
      input: { waitMs = defaultWaitMs, encoding: form, ...offsets },
      ...rest
    }) => {
      const command = await environment.command(rest.params.command ?? '', offsets)
      if (wantedForm(rest.request) === 'json') return await outputSoFar(command, waitMs)
      await sendOutput(rest.request, rest.reply, command, { encoding: form })
      return rest.reply
    },
  )
  insideRoute(
    to,
    {
      method: 'POST',
      path: 'commands/{command}/input',
      operation: 'command.input',
      scope: 'exec',
      summary: 'feed the stdin of a command that was started with a streamed one',
      input: sentInput,
      answers: 'nothing',
    },
    async ({ environment, input: { data, encoding: form = 'utf8', end }, params }) => {
      const command = await environment.command(params.command ?? '')
      try {
        if (data !== undefined) await command.writeStdin(Buffer.from(data, form))
        if (end) await command.endStdin()
      } finally {
        command.detach()
      }
    },
  )
  insideRoute(
    to,
    {
      method: 'POST',
      path: 'commands/{command}/signal',
      operation: 'command.signal',
      scope: 'exec',
      summary: 'send a signal, such as SIGTERM; with `graceMs`, SIGKILL follows',
      input: signalInput,
      answers: 'nothing',
    },
    ({ environment, input, params }) => environment.kill(params.command ?? '', input),
  )
  insideRoute(
    to,
    {
      method: 'GET',
      path: insidePaths.processes,
      operation: 'processes',
      scope: 'exec',
      summary: 'every process inside',
      input: options({}),
      answers: 'json',
    },
    ({ environment }) => environment.processes(),
  )
}
