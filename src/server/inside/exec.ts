import { hash } from 'node:crypto'
import type { CommandInfo } from '../../agent/commands/commands.ts'
import { insidePaths } from '../../api/contract/routes.ts'
import type { Command } from '../../api/handles/command.ts'
import type { Environment } from '../../api/handles/environment.ts'
import { fields, type Given } from '../../api/inputs/checked.ts'
import { commandInput } from '../../api/inputs/exec-inputs.ts'
import { variables } from '../../api/inputs/maps.ts'
import * as v from '../../api/inputs/values.ts'
import { NotFoundError } from '../../model/errors.ts'
import { wantedForm } from '../routes/lines.ts'
import type { Service } from '../service.ts'
import { encoding, gathered, type Result, sendOutput } from './command-output.ts'
import { type Inside, type InsideApp, insideRoute } from './inside-route.ts'

/** Of one command; larger ones are streamed. */
const longestStdin = 16 * 1024 ** 2

const common = {
  mode: v.oneOf('shell', 'detached', 'process'),
  shell: v.word,
  cwd: v.path,
  env: variables,
  user: v.word,
  timeoutMs: v.timeout,
}

const execInput = fields(
  { command: commandInput },
  { ...common, stdin: v.text(longestStdin), encoding, waits: v.truth },
)
const spawnInput = fields(
  { command: commandInput },
  { ...common, stdin: v.oneOf('none', 'streamed'), id: v.word },
)

type ExecInput = Given<typeof execInput>

export function addExec(to: InsideApp): void {
  insideRoute(
    to,
    {
      method: 'POST',
      path: insidePaths.exec,
      operation: 'exec',
      scope: 'exec',
      summary: 'run a command to its end: one answer, or lines with its output as it comes',
      input: execInput,
      answers: 'json',
      retry: 'own',
    },
    (inside) => exec(inside, to.service),
  )
  insideRoute(
    to,
    {
      method: 'POST',
      path: 'commands',
      operation: 'command.start',
      scope: 'exec',
      summary: 'start a command and leave it running',
      input: spawnInput,
      answers: 'json',
    },
    async ({ environment, input: { command, ...options } }) => {
      const started = await environment.spawn(command, options)
      const pid = await started.pid
      started.detach()
      return { id: started.id, pid, running: true }
    },
  )
}

async function exec(inside: Inside<ExecInput>, service: Service): Promise<unknown> {
  const { environment, input, request, reply } = inside
  const { idempotencyKey: key } = request.session
  if (wantedForm(request) !== 'json') {
    const wait = Promise.withResolvers<CommandInfo>()
    const onWait = input.waits ? wait.resolve : undefined
    const running = await started(environment, input, key && commandId(key), onWait)
    await sendOutput(request, reply, running, { encoding: input.encoding, wait: wait.promise })
    return reply
  }
  if (key === undefined) return await whole(inside)
  const id = commandId(key)
  const name = `exec ${environment.id}`
  return await service.once(
    { key, name, input },
    async () => await gathered(await started(environment, input, id)),
    async () => await foundResult(environment, id),
  )
}

/** Ends the command if the client hangs up. */
async function whole({ environment, input, signal }: Inside<ExecInput>): Promise<unknown> {
  const { command, encoding: _encoding, waits: _waits, ...options } = input
  const { raw: _raw, ...result } = await environment.exec(command, { ...options, signal })
  return result
}

async function started(
  environment: Environment,
  { command, stdin, encoding: _encoding, waits: _waits, ...options }: ExecInput,
  id: string | undefined,
  onWait?: (ahead: CommandInfo) => void,
): Promise<Command> {
  const named = id === undefined ? {} : { id }
  const isFed = stdin === undefined ? 'none' : 'streamed'
  const { execTimeoutMs } = environment.lastInfo
  const limit = execTimeoutMs === null ? {} : { timeoutMs: execTimeoutMs }
  const heard = onWait === undefined ? {} : { onWait }
  const wanted = { ...limit, ...options, ...named, ...heard, stdin: isFed } as const
  const running = await environment.spawn(command, wanted)
  if (stdin !== undefined) {
    await running.writeStdin(stdin)
    await running.endStdin()
  }
  return running
}

/** The daemon was killed while the command ran, but the command was not. */
async function foundResult(environment: Environment, id: string): Promise<Result | undefined> {
  try {
    return await gathered(await environment.command(id))
  } catch (error) {
    if (error instanceof NotFoundError) return undefined
    throw error
  }
}

/** The same key means the same command, whichever daemon is asked. */
function commandId(key: string): string {
  return `k-${hash('sha256', key).slice(0, 32)}`
}
