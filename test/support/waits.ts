import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../../src/index.ts'
import { TemporaryDirectory } from './temporary-directory.ts'

const sources = join(import.meta.dirname, 'workloads/waits')

/** Builds the program that waits in every way; see workloads/waits/main.c. */
export function compileWaits(): Buffer {
  using directory = new TemporaryDirectory()
  const program = join(directory.path, 'waits')
  const files = ['main.c', 'timed.c', 'events.c', 'timers.c', 'raw.c']
  const words = files.map((name) => join(sources, name))
  execFileSync('gcc', ['-O1', '-static', '-o', program, ...words, '-pthread', '-lm'])
  return readFileSync(program)
}

type Mode = 'process' | 'thread'

/** Starts it, and returns when all its waits have begun. */
export async function startWaits(
  env: Environment,
  program: Buffer,
  { mode, seconds }: { readonly mode: Mode; readonly seconds: number },
): Promise<void> {
  await env.files.write(`/root/${mode}`, program, { mode: 0o755 })
  const output = outputOf(mode)
  await env.exec(`setsid /root/${mode} ${seconds} ${mode} >${output} 2>&1 </dev/null &
    while ! grep -q started ${output}; do sleep 0.05; done; sleep 0.2`)
}

function outputOf(mode: Mode): string {
  return `/root/${mode}.out`
}

/** The line of every wait, once the last one has ended. */
export async function waitsEnded(env: Environment, mode: Mode): Promise<string[]> {
  const output = outputOf(mode)
  const { stdout } = await env.exec(
    `for i in $(seq 300); do grep -qx all ${output} && break; sleep 0.1; done; cat ${output}`,
  )
  return stdout.toString().trim().split('\n')
}

/** How far a wait may be from the timer that is measured with it: the machine may be busy. */
const tolerance = 0.7
const kinds = 48

/** In a copy, the time of day has advanced, unlike what is left of other waits. */
const byTimeOfDay = ['condition', 'semaphore']

export type Where =
  /** `stoppedUntil`: seconds from before its start to the end of the last stop, in which no wait can end */
  | { readonly kind: 'original'; readonly stoppedUntil: number }
  /** `stoodStill`: seconds that may have passed between the snapshot and its first instruction */
  | { readonly kind: 'copy'; readonly stoodStill: number }

/** Lines of waits that ended too early, too late or with a wrong result; and whether any is missing. */
export function faultsIn(lines: readonly string[], seconds: number, where: Where): string[] {
  const waits = lines.filter((line) => line !== 'started' && line !== 'all').map(parseLine)
  const timer = waits.find(({ name }) => name === 'timerfd')?.seconds ?? seconds
  const latest = where.kind === 'copy' ? seconds + where.stoodStill : where.stoppedUntil
  const wrong = waits.filter((wait) => {
    const isEarly = wait.seconds < seconds - 0.05
    const mayBeEarly = where.kind === 'copy' && byTimeOfDay.includes(wait.name)
    const isLate = wait.seconds > Math.max(timer, seconds, latest) + tolerance
    return !wait.isRight || isLate || (isEarly && !mayBeEarly)
  })
  const faults = wrong.map(({ line }) => line)
  if (!lines.includes('all')) faults.push('some have not ended')
  if (waits.length !== kinds) {
    const names = waits.map(({ name }) => name)
    faults.push(`only ${waits.length} of ${kinds} waits: ${names.sort().join(' ')}`)
  }
  return faults
}

function parseLine(line: string) {
  const [name = '', seconds = ''] = line.split(' ')
  return { line, name, seconds: Number(seconds), isRight: line.endsWith(' right') }
}
