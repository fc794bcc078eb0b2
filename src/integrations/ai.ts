import { posix } from 'node:path'
import {
  type Experimental_SandboxProcess as SandboxProcess,
  type Experimental_SandboxSession as SandboxSession,
  type Tool,
  tool,
} from 'ai'
import * as z from 'zod'
import type { Environment } from '../api/handles/environment.ts'
import { sandboxFiles } from './ai-sdk/files.ts'
import { startProcess } from './ai-sdk/processes.ts'
import { runLine } from './shared/run-line.ts'

/** The most that `run` and the tools keep of one command's output. */
const outputBytes = 256 * 1024

type Spawning = Parameters<SandboxSession['spawn']>[0]
type WritableProcess = SandboxProcess & { readonly stdin: WritableStream<Uint8Array> }

/**
 * An environment as the sandbox of `generateText` and `streamText`.
 *
 * @example
 * const env = await fp.create()
 * await generateText({ model, tools, experimental_sandbox: forkpointSandbox(env), prompt })
 */
export function forkpointSandbox(environment: Environment): SandboxSession {
  const { workdir } = environment.lastInfo
  const cwdOf = (directory: string | undefined) => posix.resolve(workdir, directory ?? '.')
  function spawn(options: Spawning & { stdin: true }): Promise<WritableProcess>
  function spawn(options: Spawning): Promise<SandboxProcess>
  async function spawn(options: Spawning): Promise<SandboxProcess> {
    const { command, workingDirectory, env, abortSignal } = options
    const stdin = options.stdin ? 'streamed' : 'none'
    const cwd = cwdOf(workingDirectory)
    const started = await startProcess(environment, { command, cwd, env, abortSignal, stdin })
    if (options.stdin) return started
    const { stdin: _closed, ...rest } = started
    return rest
  }
  return {
    description: `A live Linux computer, all of it yours. Commands start in ${workdir}.`,
    ...sandboxFiles(environment),
    spawn,
    run: async ({ command, workingDirectory, env, abortSignal }) => {
      const cwd = cwdOf(workingDirectory)
      const limits = { limitBytes: outputBytes, cwd, env, signal: abortSignal }
      const { exitCode, stdout, stderr } = await runLine(environment, command, limits)
      return { exitCode: exitCode ?? 137, stdout, stderr }
    },
  }
}

export type ForkpointTools = {
  readonly run: Tool<{ command: string; timeoutMs: number }, RunOutput>
  readonly readFile: Tool<{ path: string }, string>
  readonly writeFile: Tool<{ path: string; content: string }, { path: string }>
  readonly snapshot: Tool<{ message: string }, { snapshot: string }>
  readonly restore: Tool<{ snapshot: string }, { snapshot: string }>
}

interface RunOutput {
  /** null if a signal ended it */
  readonly exitCode: number | null
  /** stdout and stderr, as they came */
  readonly output: string
  readonly truncated: boolean
}

/**
 * Tools with which a model works in an environment, and branches it.
 *
 * @example
 * await generateText({ model, tools: forkpointTools(env), stopWhen: isStepCount(20), prompt })
 */
export function forkpointTools(environment: Environment): ForkpointTools {
  const { files } = environment
  return {
    run: tool({
      description: 'Run a command line with bash.',
      inputSchema: z.object({ command: z.string(), timeoutMs: z.number().int().default(120_000) }),
      execute: async ({ command, timeoutMs }, { abortSignal }) => {
        const limits = { limitBytes: outputBytes, timeoutMs, signal: abortSignal }
        const { exitCode, output, truncated } = await runLine(environment, command, limits)
        return { exitCode, output, truncated }
      },
    }),
    readFile: tool({
      description: 'Read a text file. The path is absolute.',
      inputSchema: z.object({ path: z.string() }),
      execute: async ({ path }) =>
        (await files.read(path, { maxBytes: outputBytes })).toString('utf8'),
    }),
    writeFile: tool({
      description: 'Write a file. The path is absolute.',
      inputSchema: z.object({ path: z.string(), content: z.string() }),
      execute: async ({ path, content }) => {
        await files.write(path, content, { makeParents: true })
        return { path }
      },
    }),
    snapshot: tool({
      description:
        'Keep the whole state: files, running programs, terminals. Do this before a risky step.',
      inputSchema: z.object({ message: z.string().max(1000).describe('what is special about it') }),
      execute: async ({ message }): Promise<{ snapshot: string }> => {
        const { id } = await environment.snapshot({ message })
        return { snapshot: id }
      },
    }),
    restore: tool({
      description: 'Return to a snapshot, when something went wrong since.',
      inputSchema: z.object({ snapshot: z.string() }),
      execute: async ({ snapshot }) => {
        await environment.restore(snapshot)
        return { snapshot }
      },
    }),
  }
}
