import { StringDecoder } from 'node:string_decoder'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CommandInfo, CommandResult } from '../../agent/commands/commands.ts'
import type { Command } from '../../api/handles/command.ts'
import type { Given } from '../../api/inputs/checked.ts'
import * as v from '../../api/inputs/values.ts'
import { ResourceError, toJson } from '../../model/errors.ts'
import { lineWriter } from '../routes/lines.ts'

type StreamName = 'stdout' | 'stderr'
const names: readonly StreamName[] = ['stdout', 'stderr']

/** How output is written in a line: as text, or exactly as it is. */
export const encoding = v.oneOf('utf8', 'base64')
type Encoding = Given<typeof encoding>

/** The most that one JSON answer holds of each stream. */
const mostBytes = 64 * 1024 ** 2

export interface Result extends CommandResult {
  readonly id: string
  readonly stdout: string
  readonly stderr: string
}

/** All output of a command and how it ended. */
export async function gathered(command: Command): Promise<Result> {
  const read = async (name: StreamName) => {
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of command[name]) {
      bytes += chunk.length
      if (bytes > mostBytes) throw tooLong(command, name)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  }
  const [stdout, stderr, end] = await Promise.all([read('stdout'), read('stderr'), command.wait()])
  return { id: command.id, stdout, stderr, ...end }
}

function tooLong({ id }: Command, name: StreamName): ResourceError {
  return new ResourceError(`${name} of command ${id} exceeds ${mostBytes} bytes`, {
    remedy: 'ask for application/x-ndjson, which streams it',
  })
}

interface SendOptions {
  readonly encoding?: Encoding | undefined
  /** the command that this one waits for, if it does for long */
  readonly wait?: Promise<CommandInfo>
}

/**
 * Output line by line as it comes, each with the offset at which a later request continues, then how the
 * command ended. The command continues if the client hangs up.
 */
export async function sendOutput(
  request: FastifyRequest,
  reply: FastifyReply,
  command: Command,
  { encoding: form = 'utf8', wait }: SendOptions = {},
): Promise<void> {
  const lines = lineWriter(request, reply)
  reply.raw.once('close', () => command.detach())
  try {
    await lines.write({ type: 'start', id: command.id })
    // Nothing else comes before the command begins, so this cannot get in between.
    wait?.then(({ id, command }) => lines.write({ type: 'wait', id, command }))
    const [end] = await Promise.all([
      command.wait(),
      ...names.map((name) => sendStream(command, name, form, lines.write)),
    ])
    await lines.write({ type: 'exit', ...end })
  } catch (error) {
    await lines.write({ type: 'error', error: { ...toJson(error), requestId: request.id } })
  } finally {
    lines.end()
  }
}

async function sendStream(
  command: Command,
  name: StreamName,
  form: Encoding,
  write: (document: unknown) => Promise<void>,
): Promise<void> {
  // A character may be cut between two chunks.
  const decoder = new StringDecoder('utf8')
  let offset = command.offsets[name]
  for await (const chunk of command[name]) {
    offset += chunk.length
    const data = form === 'base64' ? chunk.toString(form) : decoder.write(chunk)
    if (data !== '') await write({ type: name, data, offset })
  }
  const rest = decoder.end()
  if (rest !== '') await write({ type: name, data: rest, offset })
}

/** What has been printed after the offsets, within `waitMs` or until the command ends. */
export async function outputSoFar(command: Command, waitMs: number): Promise<unknown> {
  const offsets = { ...command.offsets }
  const chunks: Record<StreamName, Buffer[]> = { stdout: [], stderr: [] }
  const read = async (name: StreamName) => {
    for await (const chunk of command[name]) {
      chunks[name].push(chunk)
      offsets[name] += chunk.length
      if (offsets[name] > mostBytes) throw tooLong(command, name)
    }
  }
  const late = Promise.withResolvers<null>()
  const timer = setTimeout(() => late.resolve(null), waitMs)
  try {
    const all = Promise.all([command.wait(), read('stdout'), read('stderr')])
    const ended = await Promise.race([all.then(([end]) => end), late.promise])
    // Reading on ends with the handle; the loser of the race is not waited for.
    all.catch(() => {})
    const [stdout, stderr] = names.map((name) => Buffer.concat(chunks[name]).toString('utf8'))
    return { id: command.id, stdout, stderr, offsets, running: ended === null, exit: ended }
  } finally {
    clearTimeout(timer)
    command.detach()
  }
}
