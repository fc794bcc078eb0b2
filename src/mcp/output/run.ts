import type { CommandResult } from '../../agent/commands/commands.ts'
import type { Command } from '../../api/handles/command.ts'
import type { Environment } from '../../api/handles/environment.ts'
import type { SpawnOptions } from '../../api/handles/exec-options.ts'
import { Clip } from './clip.ts'

type StreamName = 'stdout' | 'stderr'

export interface RunOptions {
  readonly limitBytes: number
  readonly timeoutMs: number
  readonly cwd?: string | undefined
  readonly shell?: string | undefined
  readonly stdin?: string | undefined
  readonly signal: AbortSignal
  /** called with each piece of output */
  readonly onOutput?: (chunk: Buffer) => void
}

export interface Ran {
  readonly command: string
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly stdoutBytes: number
  readonly stderrBytes: number
  readonly truncated: boolean
  readonly timedOut: boolean
  readonly durationMs: number
}

/** Runs a command to its end and keeps the beginning and the end of what it prints. */
export async function run(
  environment: Environment,
  line: string,
  options: RunOptions,
): Promise<Ran> {
  const { cwd, shell, stdin, timeoutMs, signal } = options
  const isFed = stdin === undefined ? 'none' : 'streamed'
  const wanted: SpawnOptions = {
    timeoutMs,
    stdin: isFed,
    ...(cwd !== undefined && { cwd }),
    ...(shell !== undefined && { shell }),
  }
  const command = await environment.spawn(line, wanted)
  const end = () => void command.signal('SIGINT').catch(() => command.detach())
  if (signal.aborted) end()
  signal.addEventListener('abort', end)
  try {
    const fed = isFed === 'streamed' ? feed(command, stdin ?? '') : Promise.resolve()
    return await gather(command, options, fed)
  } finally {
    signal.removeEventListener('abort', end)
  }
}

async function feed(command: Command, text: string): Promise<void> {
  try {
    await command.writeStdin(text)
    await command.endStdin()
  } catch {
    // It may end without reading its stdin, as any program may.
  }
}

async function gather(command: Command, options: RunOptions, fed: Promise<void>): Promise<Ran> {
  const clips = { stdout: new Clip(options.limitBytes), stderr: new Clip(options.limitBytes) }
  const read = async (name: StreamName) => {
    for await (const chunk of command[name]) {
      clips[name].push(chunk)
      options.onOutput?.(chunk)
    }
  }
  const [ended] = await Promise.all([command.wait(), read('stdout'), read('stderr'), fed])
  return ranOf(command.id, ended, clips)
}

function ranOf(id: string, ended: CommandResult, clips: Record<StreamName, Clip>): Ran {
  const textOf = (name: StreamName) =>
    clips[name].text(
      (bytes, offset) =>
        `${bytes} bytes of ${name} are left out: read_command with command ${id} and ${name}Offset ${offset} reads them`,
    )
  return {
    command: id,
    exitCode: ended.exitCode,
    signal: ended.signal,
    stdout: textOf('stdout'),
    stderr: textOf('stderr'),
    stdoutBytes: clips.stdout.bytes,
    stderrBytes: clips.stderr.bytes,
    truncated: clips.stdout.leftOut + clips.stderr.leftOut > 0,
    timedOut: ended.timedOut,
    durationMs: Math.round(ended.durationMs),
  }
}
