import type { Command } from '../../api/handles/command.ts'
import type { Environment } from '../../api/handles/environment.ts'

export interface ProcessOptions {
  readonly command: string
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly abortSignal?: AbortSignal | undefined
  readonly stdin: 'none' | 'streamed'
}

/** A process inside, with the streams of the web. */
export async function startProcess(environment: Environment, options: ProcessOptions) {
  const { command: line, cwd, env, abortSignal, stdin } = options
  abortSignal?.throwIfAborted()
  const command = await environment.spawn(['bash', '-c', line], {
    mode: 'process',
    cwd,
    stdin,
    ...(env !== undefined && { env }),
  })
  const ended = endOf(command, abortSignal)
  return {
    pid: await command.pid,
    stdout: readable(command.stdout),
    stderr: readable(command.stderr),
    stdin: writable(command),
    wait: () => ended,
    kill: () => kill(command),
  }
}

/** As a shell counts: 128 and the number of the signal would need a table, so any signal is 137. */
const killedExitCode = 137

async function endOf(command: Command, abortSignal: AbortSignal | undefined) {
  const aborted = Promise.withResolvers<never>()
  // Nobody may wait for it.
  aborted.promise.catch(() => {})
  const abort = () => {
    void kill(command)
    aborted.reject(abortSignal?.reason)
  }
  abortSignal?.addEventListener('abort', abort)
  try {
    const { exitCode } = await Promise.race([command.wait(), aborted.promise])
    return { exitCode: exitCode ?? killedExitCode }
  } finally {
    abortSignal?.removeEventListener('abort', abort)
  }
}

async function kill(command: Command): Promise<void> {
  try {
    await command.signal('SIGKILL')
  } catch {
    // It has ended already.
  }
}

function readable(output: Command['stdout']): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: async (controller) => {
      const chunk = await output.read()
      if (chunk === null) controller.close()
      else controller.enqueue(new Uint8Array(chunk))
    },
    cancel: () => output.discard(),
  })
}

function writable(command: Command): WritableStream<Uint8Array> {
  return new WritableStream({
    write: (chunk) => command.writeStdin(Buffer.from(chunk)),
    close: () => command.endStdin(),
  })
}
