import * as z from 'zod'
import type { Environment } from '../../api/handles/environment.ts'
import { readOn } from '../output/read-on.ts'
import { run } from '../output/run.ts'
import { type Call, tool } from '../tool.ts'
import type { Workspace } from '../workspace.ts'
import * as f from './fields.ts'

/** Progress is for people: more often than this is noise. */
const progressEveryMs = 500
const longestProgress = 200

export const exec = tool({
  name: 'exec',
  title: 'Run a command',
  description:
    'Runs a command line in the persistent bash of an environment and waits for its end: `cd`, variables and functions carry over to the next call. A non-zero exit code is a result, not an error. Long output is cut in the middle; read_command reads the rest. Before something risky or hard to undo (deleting, migrating, upgrading, a large refactoring), take a snapshot. To compare several approaches, use fork or try_commands instead of trying one after the other here.',
  effect: 'changes',
  input: {
    environment: f.environment,
    command: f.command,
    cwd: f.path.optional(),
    stdin: z.string().max(f.mostFileBytes).optional(),
    shell: f.name.optional().describe('another persistent shell than main, to run in parallel'),
    timeoutMs: f.timeoutMs,
    limitBytes: f.limitBytes,
  },
  output: f.ran,
  run: async ({ environment, command, ...options }, { workspace, signal, progress }) => {
    const found = await workspace.environment(environment)
    const onOutput = lastLines(progress)
    return await run(found, command, { ...options, signal, onOutput })
  },
})

export const startCommand = tool({
  name: 'start_command',
  title: 'Start a command',
  description:
    'Starts a command as a process of its own and returns while it runs: servers, watchers, long builds. It keeps running across snapshots, and a fork has its own copy of it, with the same id. read_command shows what it prints.',
  effect: 'changes',
  input: {
    environment: f.environment,
    command: f.command,
    name: f.name
      .regex(/^[\w-]+$/)
      .optional()
      .describe('the id that the command gets'),
    cwd: f.path.optional(),
  },
  output: { command: z.string().describe('its id'), pid: z.number() },
  run: async ({ environment, command, name, cwd }, { workspace }) => {
    const found = await workspace.environment(environment)
    const started = await found.spawn(command, {
      mode: 'process',
      ...(name !== undefined && { id: name }),
      ...(cwd !== undefined && { cwd }),
    })
    const pid = await started.pid
    workspace.followers.follow(found.id, started)
    return { command: started.id, pid }
  },
})

const place = z.object({ stdout: z.number(), stderr: z.number() })

export const readCommand = tool({
  name: 'read_command',
  title: 'Read the output of a command',
  description:
    'Reads what a command has printed, running or ended, from an offset on. Give the offsets of `next` to continue. The last 1 MiB of each stream is kept.',
  effect: 'reads',
  input: {
    environment: f.environment,
    command: f.commandId,
    stdoutOffset: f.offset,
    stderrOffset: f.offset,
    limitBytes: f.limitBytes,
    waitMs: f.waitMs(200).describe('how long to wait for more output or the end'),
  },
  output: {
    command: z.string(),
    running: z.boolean(),
    exitCode: z.nullable(z.number()),
    stdout: z.string(),
    stderr: z.string(),
    from: place.describe('where these texts begin, in bytes'),
    next: place.describe('the offsets for the next call'),
  },
  run: async ({ environment, command, stdoutOffset, stderrOffset, ...rest }, { workspace }) => {
    const found = await workspace.environment(environment)
    const { limitBytes, waitMs } = rest
    const offsets = { stdout: stdoutOffset, stderr: stderrOffset }
    // A command has one reader at a time.
    const wasFollowed = workspace.followers.leave(found.id, command)
    const read = await readOn(await found.command(command, offsets), limitBytes, waitMs)
    const info = (await found.commands()).find(({ id }) => id === command)
    const running = info?.running ?? false
    if (wasFollowed && running) await followAgain(workspace, found, command)
    const { stdout, stderr, from, next } = read
    const exitCode = read.ended?.exitCode ?? info?.exit?.exitCode ?? null
    return { command, running, exitCode, stdout, stderr, from: { ...from }, next: { ...next } }
  },
})

export const stopCommand = tool({
  name: 'stop_command',
  title: 'Stop a command',
  description: 'Sends a signal to a running command and waits a moment for its end.',
  effect: 'changes',
  input: {
    environment: f.environment,
    command: f.commandId,
    signal: z.enum(['SIGTERM', 'SIGINT', 'SIGKILL', 'SIGHUP']).default('SIGTERM'),
  },
  output: { command: z.string(), running: z.boolean(), exitCode: z.nullable(z.number()) },
  run: async ({ environment, command, signal }, { workspace }) => {
    const found = await workspace.environment(environment)
    const wasFollowed = workspace.followers.leave(found.id, command)
    const running = await found.command(command)
    await running.signal(signal)
    running.stdout.discard()
    running.stderr.discard()
    const ended = await Promise.race([
      running.wait().then(({ exitCode }) => ({ exitCode })),
      new Promise<null>((resolve) => setTimeout(() => resolve(null), graceMs)),
    ])
    if (ended !== null) return { command, running: false, exitCode: ended.exitCode }
    if (wasFollowed) workspace.followers.follow(found.id, running)
    else running.detach()
    return { command, running: true, exitCode: null }
  },
})

/** How long a command may take to end after a signal, before the answer says that it runs. */
const graceMs = 2000

async function followAgain(workspace: Workspace, environment: Environment, id: string) {
  try {
    workspace.followers.follow(environment.id, await environment.command(id))
  } catch {
    // It has ended meanwhile, so that nothing waits for a reader.
  }
}

/** Reports the last line that was printed, now and then. */
function lastLines(progress: Call['progress']): (chunk: Buffer) => void {
  let last = 0
  return (chunk) => {
    const now = performance.now()
    if (now - last < progressEveryMs) return
    last = now
    const line = chunk.toString('utf8').trimEnd().split('\n').at(-1) ?? ''
    progress(line.slice(-longestProgress))
  }
}
