import { isUtf8 } from 'node:buffer'
import * as z from 'zod'
import type { EnvironmentFiles } from '../../api/handles/files.ts'
import { evaluate } from '../../compat/forkd/interpreter/evaluate.ts'
import { Clip } from '../output/clip.ts'
import { type Tool, tool } from '../tool.ts'
import { forksOf } from '../tools/branching.ts'
import { path, environment as sandbox_id } from '../tools/fields.ts'
import { sandboxOf, sandboxRecord, snapshotOf, snapshotRecord } from './records.ts'

// The tools of forkd, with its names for arguments and results. Lists are in `result`, as its server has them.

const tag = z.string().min(1).max(63)
const timeout_secs = (seconds: number) => z.number().min(1).max(3600).default(seconds)
const mostOutput = 64 * 1024
const excerptBytes = 256
const tailBytes = 4096

const listSnapshots = tool({
  name: 'list_snapshots',
  title: 'List snapshots',
  description: 'Lists the snapshots that sandboxes can be spawned from.',
  effect: 'reads',
  input: {},
  output: { result: z.array(snapshotRecord) },
  run: async (_input, { workspace }) => ({ result: (await workspace.snapshots()).map(snapshotOf) }),
})

const spawnSandboxes = tool({
  name: 'spawn_sandboxes',
  title: 'Spawn sandboxes',
  description:
    'Forks n sandboxes from a snapshot, each with its own copy of its files, processes and memory. Use several to try alternatives from the same state.',
  effect: 'changes',
  input: {
    snapshot_tag: tag,
    n: z.int().min(1).max(1000).default(1),
    per_child_netns: z.boolean().default(true).describe('each has its own network in any case'),
    memory_limit_mib: z.int().min(1).optional().describe('a fork has the limits of its snapshot'),
    prewarm: z.boolean().default(false).describe('not needed here'),
    live_fork: z.boolean().default(false).describe('not needed here'),
  },
  output: { result: z.array(sandboxRecord) },
  run: async ({ snapshot_tag, n }, { workspace, signal }) => {
    const base = await workspace.snapshot(snapshot_tag)
    const errors: string[] = []
    const made = await forksOf(workspace, base, { count: n, signal }, errors)
    if (errors.length > 0) throw new Error(`only ${made.length} of ${n} were made: ${errors[0]}`)
    return { result: made.map((each) => sandboxOf(each, [base])) }
  },
})

const branchSandbox = tool({
  name: 'branch_sandbox',
  title: 'Branch a sandbox',
  description:
    'Takes a snapshot of a running sandbox under a tag, from which others can be spawned. The sandbox continues.',
  effect: 'changes',
  input: {
    sandbox_id,
    tag: tag.optional(),
    diff: z.boolean().default(false),
    measure_diff: z.boolean().default(false),
    mode: z.enum(['full', 'diff', 'live']).optional().describe('chosen by itself here'),
    wait: z.boolean().default(true),
  },
  output: snapshotRecord.shape,
  run: async ({ sandbox_id: id, tag: name }, { workspace, signal }) => {
    const found = await workspace.environment(id)
    const named = name === undefined ? { signal } : { name, signal }
    return snapshotOf(await workspace.taking(found, named))
  },
})

const createSnapshot = tool({
  name: 'create_snapshot',
  title: 'Create a snapshot',
  description: 'Starts an environment from a root file system and keeps it as a snapshot.',
  effect: 'changes',
  input: {
    tag,
    rootfs: z.string().max(4096).default('host').describe('host, rootfs:PATH, image:REF, …'),
    kernel: z.string().max(4096).optional().describe('the kernel is that of the host here'),
    rw: z.boolean().default(true),
    tap: z.string().max(64).optional(),
    boot_wait_secs: z.number().min(0).max(600).default(0),
  },
  output: snapshotRecord.shape,
  run: async ({ tag: name, rootfs, boot_wait_secs }, { workspace, signal }) => {
    const from = rootfs.startsWith('/') ? `rootfs:${rootfs}` : rootfs
    const parent = await workspace.create({ from, signal })
    try {
      await new Promise((resolve) => setTimeout(resolve, boot_wait_secs * 1000))
      return snapshotOf(await workspace.taking(parent, { name, signal }))
    } finally {
      await workspace.remove(parent)
    }
  },
})

const waitForText = tool({
  name: 'wait_for_text',
  title: 'Wait for text in a file',
  description: 'Waits until the end of a file inside a sandbox contains a marker.',
  effect: 'reads',
  input: {
    sandbox_id,
    path,
    marker: z.string().min(1).max(tailBytes),
    timeout_secs: timeout_secs(60),
    poll_interval_ms: z.number().min(10).max(60_000).default(200),
  },
  output: { found: z.boolean(), elapsed_ms: z.number(), last_excerpt: z.string() },
  run: async ({ sandbox_id: id, path: file, marker, ...wait }, { workspace, signal }) => {
    const { files } = await workspace.environment(id)
    const begun = performance.now()
    for (;;) {
      const tail = await tailOf(files, file)
      const elapsed = performance.now() - begun
      const found = tail.includes(marker)
      if (found || elapsed > wait.timeout_secs * 1000 || signal.aborted) {
        const last_excerpt = tail.slice(-excerptBytes)
        return { found, elapsed_ms: Math.round(elapsed), last_excerpt }
      }
      await new Promise((resolve) => setTimeout(resolve, wait.poll_interval_ms))
    }
  },
})

async function tailOf(files: EnvironmentFiles, file: string): Promise<string> {
  const info = await files.stat(file).catch(() => null)
  // A file that is not there yet contains nothing yet.
  if (info === null) return ''
  const offsetBytes = Math.max(0, info.sizeBytes - tailBytes)
  const bytes = await files.read(file, { offsetBytes, lengthBytes: tailBytes })
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1')
}

const listSandboxes = tool({
  name: 'list_sandboxes',
  title: 'List sandboxes',
  description: 'Lists the sandboxes that are alive.',
  effect: 'reads',
  input: {},
  output: { result: z.array(sandboxRecord) },
  run: async (_input, { workspace }) => {
    const snapshots = await workspace.snapshots()
    const all = await workspace.environments()
    return { result: all.map((each) => sandboxOf(each, snapshots)) }
  },
})

const getSandbox = tool({
  name: 'get_sandbox',
  title: 'Get a sandbox',
  description: 'Shows one sandbox by its id.',
  effect: 'reads',
  input: { sandbox_id },
  output: sandboxRecord.shape,
  run: async ({ sandbox_id: id }, { workspace }) =>
    sandboxOf(await workspace.environment(id), await workspace.snapshots()),
})

const killSandbox = tool({
  name: 'kill_sandbox',
  title: 'Kill a sandbox',
  description: 'Ends a sandbox and everything in it. Its snapshots stay.',
  effect: 'destroys',
  input: { sandbox_id },
  output: { id: z.string(), killed: z.boolean() },
  run: async ({ sandbox_id: id }, { workspace }) => {
    const found = await workspace.environment(id)
    workspace.requireRemovable(found)
    await workspace.remove(found)
    return { id: found.id, killed: true }
  },
})

const execCommand = tool({
  name: 'exec_command',
  title: 'Run a command',
  description: 'Runs a program with its arguments in a sandbox, and waits for its end.',
  effect: 'changes',
  input: {
    sandbox_id,
    args: z
      .array(z.string().max(128 * 1024))
      .min(1)
      .max(1000),
    timeout_secs: timeout_secs(30),
  },
  output: { stdout: z.string(), stderr: z.string(), exit_code: z.nullable(z.number()) },
  run: async ({ sandbox_id: id, args, timeout_secs: seconds }, { workspace, signal }) => {
    const found = await workspace.environment(id)
    const [stdout, stderr] = [new Clip(mostOutput), new Clip(mostOutput)]
    const { exitCode } = await found.exec(args, {
      mode: 'process',
      timeoutMs: Math.round(seconds * 1000),
      signal,
      onStdout: (chunk) => stdout.push(chunk),
      onStderr: (chunk) => stderr.push(chunk),
    })
    const note = (bytes: number) => `${bytes} bytes are left out`
    return { stdout: stdout.text(note), stderr: stderr.text(note), exit_code: exitCode }
  },
})

const evalCode = tool({
  name: 'eval_code',
  title: 'Evaluate Python',
  description:
    'Evaluates Python in an interpreter that stays alive in the sandbox: names carry over to the next call, and into everything spawned from its snapshots.',
  effect: 'changes',
  input: { sandbox_id, code: z.string().max(256 * 1024) },
  output: {
    result: z.nullable(z.string()),
    error: z.nullable(z.string()),
    exit_code: z.number(),
    stdout: z.string(),
  },
  run: async ({ sandbox_id: id, code }, { workspace, signal }) => {
    const { result, error, exit_code, stdout, traceback } = await evaluate(
      await workspace.environment(id),
      code,
      signal,
    )
    // Its tool has one field for both.
    return { result, error: traceback ?? error, exit_code, stdout }
  },
})

const pingSandbox = tool({
  name: 'ping_sandbox',
  title: 'Ping a sandbox',
  description: 'Asks the agent inside a sandbox for an answer.',
  effect: 'reads',
  input: { sandbox_id },
  output: { ok: z.boolean(), status: z.string(), round_trip_ms: z.number() },
  run: async ({ sandbox_id: id }, { workspace }) => {
    const found = await workspace.environment(id)
    const begun = performance.now()
    await found.files.stat('/')
    const { status } = found.lastInfo
    return { ok: true, status, round_trip_ms: Math.round(performance.now() - begun) }
  },
})

export const forkdTools: readonly Tool[] = [
  listSnapshots,
  spawnSandboxes,
  branchSandbox,
  createSnapshot,
  waitForText,
  listSandboxes,
  getSandbox,
  killSandbox,
  execCommand,
  evalCode,
  pingSandbox,
]
