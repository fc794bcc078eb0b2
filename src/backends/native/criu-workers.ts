import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { nativeProgram } from './cell.ts'
import type { CriuCommand } from './criu.ts'

/**
 * CRIU keeps what it learned of the kernel in /run if that is a tmpfs, and probes it anew on every
 * call (30 ms) if not. Each worker gets this directory as its /run.
 */
const kernelData = '/dev/shm/forkpoint-criu'

/** One dumps while the other gets ready to restore. */
const mostReady = 2
/** The pause after a job before the next worker is loaded: who goes on at once has the CPUs. */
const restMs = 30
/** A worker keeps the host's mounts busy, so it does not wait for ever. */
const longestIdleMs = 30_000

export interface Job {
  /** options of `cell worker`, see native/cell/worker.c */
  readonly args: readonly string[]
  /** CRIU's own request */
  readonly request: Uint8Array
}

export interface JobEnd {
  /** the words of the worker's answer; none if it went away */
  readonly words: readonly string[]
  readonly stderr: string
}

/** CRIU processes that are loaded ahead of the jobs they will do, one each. */
export interface CriuWorkers extends Disposable {
  /** Begins to load as many as one operation needs; returns at once. */
  prepare(): void
  run(job: Job): Promise<JobEnd>
  /** Ends those that wait, as they hold on to what is mounted now. */
  dismiss(): void
}

interface Worker {
  readonly child: ChildProcessWithoutNullStreams
  readonly stderr: () => string
  /** the host's mounts when it was started; it does not see later ones */
  readonly mounts: string
}

export function criuWorkers(
  criu: () => CriuCommand,
  ids: { readonly base: number; readonly count: number },
): CriuWorkers {
  const ready: Worker[] = []
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const dismiss = (): void => {
    clearTimeout(timer)
    for (const worker of ready.splice(0)) end(worker)
  }

  const prepare = (): void => {
    if (isClosed) return
    clearTimeout(timer)
    while (ready.length < mostReady) ready.push(start(criu(), ids))
    timer = setTimeout(dismiss, longestIdleMs).unref()
  }

  const take = (): Worker => {
    const mounts = hostMounts()
    for (let worker = ready.shift(); worker !== undefined; worker = ready.shift()) {
      if (worker.mounts === mounts && worker.child.exitCode === null) return worker
      end(worker)
    }
    return start(criu(), ids)
  }

  const run = async (job: Job): Promise<JobEnd> => {
    const worker = take()
    try {
      return await give(worker, job)
    } finally {
      if (!isClosed) {
        clearTimeout(timer)
        timer = setTimeout(prepare, restMs).unref()
      }
    }
  }

  return {
    ...{ prepare, run, dismiss },
    [Symbol.dispose]: () => {
      isClosed = true
      dismiss()
    },
  }
}

function start(criu: CriuCommand, ids: { base: number; count: number }): Worker {
  mkdirSync(kernelData, { recursive: true, mode: 0o711 })
  const mounts = hostMounts()
  const args = ['worker', '--kdat', kernelData, '--id-base', String(ids.base)]
  args.push('--id-count', String(ids.count), '--', ...criu)
  const child = spawn(nativeProgram('cell'), args, { stdio: 'pipe' })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-longestStderr)
  })
  // What goes wrong is told by the end of its output.
  child.on('error', () => {})
  child.stdin.on('error', () => {})
  hold(child, 'unref')
  return { child, mounts, stderr: () => stderr }
}

const longestStderr = 64 * 1024

/** A worker that waits must not keep this process alive. */
function hold(child: ChildProcessWithoutNullStreams, how: 'ref' | 'unref'): void {
  child[how]()
  for (const stream of child.stdio)
    if (stream && how in stream) (stream as unknown as Refable)[how]()
}

interface Refable {
  ref(): void
  unref(): void
}

/** Gives it its job; the answer is the first line, and its exit is not waited for. */
async function give({ child, stderr }: Worker, { args, request }: Job): Promise<JobEnd> {
  hold(child, 'ref')
  const words = Buffer.from(args.map((arg) => `${arg}\0`).join(''))
  child.stdin.write(Buffer.concat([lengthOf(words), words, lengthOf(request), request]))
  const answer = await firstLine(child)
  if (answer.startsWith('failed') || answer === '') await closed(child)
  hold(child, 'unref')
  return { words: answer.split(' '), stderr: stderr() }
}

function lengthOf(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return length
}

function firstLine(child: ChildProcessWithoutNullStreams): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more
    const end = text.indexOf('\n')
    if (end >= 0) resolve(text.slice(0, end))
  })
  child.stdout.once('close', () => resolve(text))
  child.once('error', () => resolve(text))
  return promise
}

/** Its children may live on and hold its standard error open; what it said itself is there by then. */
async function closed(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => setImmediate(resolve))
  child.once('error', () => resolve())
  await promise
}

function end({ child }: Worker): void {
  child.stdin.destroy()
}

function hostMounts(): string {
  return readFileSync('/proc/self/mountinfo', 'utf8')
}
