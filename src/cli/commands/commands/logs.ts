import { setTimeout as sleep } from 'node:timers/promises'
import type { CommandOffsets, CommandOutput, Environment } from '../../../index.ts'
import { InvalidInputError, NotFoundError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import type { Context } from '../../context.ts'
import { exitCodeOfCommand } from '../../exec/exit-code.ts'
import { followCommand } from '../../exec/follow.ts'
import { addExamples, envArgument } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'
import type { Streams } from '../../streams.ts'
import { say, write } from '../../write.ts'

interface Options {
  readonly follow?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Print what a command has printed so far: the last MiB of each of its streams. Ctrl-C leaves it running.',
      )
      .argument('<env>', envArgument)
      .argument('<command>', 'its id, as `forkpoint ps` lists it')
      .option('-f, --follow', 'until it ends, and exit with its exit code')
      .action((reference: string, id: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          refuseJson(context)
          using interrupts = new Interrupts()
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          await sayWhatIsGone(context, environment, id)
          if (!options.follow) return await printSoFar(context.streams, environment, id)
          const { streams } = context
          const along = { readAlong: true }
          const result = await followCommand(environment, id, streams, interrupts.signal, along)
          context.endWith(exitCodeOfCommand(result))
        }),
      ),
    [
      ['forkpoint logs web c-3fK2', 'the output so far'],
      ['forkpoint logs web c-3fK2 -f', 'and what follows, until the command ends'],
    ],
  )

function refuseJson({ globals }: Context): void {
  if (!globals.json) return
  throw new InvalidInputError('logs and --json cannot be used together', {
    remedy: 'leave out --json: logs prints the bytes of the command as they are',
  })
}

/** Only the end of a long output is kept. */
async function sayWhatIsGone({ streams }: Context, environment: Environment, id: string) {
  const command = await environment.command(id, { readAlong: true })
  const { stdout, stderr } = command.offsets
  command.detach()
  const gone = stdout + stderr
  if (gone > 0) await say(streams.stderr, `forkpoint: the first ${gone} bytes are no longer kept\n`)
}

async function printSoFar(streams: Streams, environment: Environment, id: string): Promise<void> {
  const info = (await environment.commands()).find((each) => each.id === id)
  if (info === undefined) {
    throw new NotFoundError(`no command ${quote(id)}`, { remedy: 'see `forkpoint ps ENV`' })
  }
  const command = await environment.command(id, { readAlong: true })
  const from = command.offsets
  const until = info.printed ?? unlimited
  const printed = Promise.all([
    passOn(command.stdout, streams.stdout, until.stdout - from.stdout),
    passOn(command.stderr, streams.stderr, until.stderr - from.stderr),
  ])
  // An older agent does not say how much there is; what it has comes at once.
  const late = info.printed === null && info.running ? [sleep(quietMs)] : []
  try {
    await Promise.race([printed, ...late])
  } finally {
    printed.catch(() => {})
    command.detach()
  }
}

const quietMs = 200

const unlimited: CommandOffsets = {
  stdout: Number.POSITIVE_INFINITY,
  stderr: Number.POSITIVE_INFINITY,
}

async function passOn(output: CommandOutput, to: Streams['stdout'], bytes: number): Promise<void> {
  for (let left = bytes; left > 0; ) {
    const chunk = await output.read()
    if (chunk === null) return
    await write(to, chunk.subarray(0, left))
    left -= chunk.length
  }
}
