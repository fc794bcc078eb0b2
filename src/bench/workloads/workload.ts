import type { Environment } from '../../index.ts'

/** Something that runs in an environment while it is branched. */
export interface Workload {
  readonly name: string
  /** programs of the host that it needs */
  readonly needs: readonly string[]
  start(env: Environment): Promise<void>
  /** rejects unless it kept its state and continues */
  check(env: Environment): Promise<void>
  /** changes this many MB of its memory, if it can */
  readonly change?: (env: Environment, changedMb: number) => Promise<void>
}

/** Far beyond what anything takes on a machine that does nothing else. */
const patienceMs = 600_000

/** Runs a command line in the shell and returns its output. Rejects if it fails. */
export async function run(env: Environment, command: string): Promise<string> {
  return await succeed(env, command, () => env.exec(command, { timeoutMs: 60_000 }))
}

/** The same for one that takes minutes, in a process of its own. */
export async function runLong(env: Environment, command: string): Promise<string> {
  const words = ['bash', '-c', command]
  return await succeed(env, command, () =>
    env.exec(words, { mode: 'process', cwd: '/', timeoutMs: patienceMs }),
  )
}

export async function runAs(env: Environment, user: string, command: string): Promise<string> {
  const words = ['bash', '-c', command]
  return await succeed(env, command, () => env.exec(words, { mode: 'process', user, cwd: '/' }))
}

/** Repeats the command line until it succeeds. Rejects if it does not within some minutes. */
export async function runUntilDone(env: Environment, command: string): Promise<string> {
  const trying = `for i in {1..3000}; do if (${command}) 2> /dev/null; then break; fi; sleep 0.05; false; done`
  return await succeed(env, command, () => env.exec(trying, { timeoutMs: patienceMs }))
}

/** A command line that sends a request to a server inside; `reader` gets the answer on stdin. */
export function httpGet(port: number, path: string, reader: string): string {
  const request = `GET ${path} HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n`
  return `exec 3<>/dev/tcp/127.0.0.1/${port} && printf '${request}' >&3 && ${reader} <&3`
}

async function succeed(
  env: Environment,
  command: string,
  work: () => ReturnType<Environment['exec']>,
): Promise<string> {
  const { exitCode, stdout, stderr } = await work()
  if (exitCode === 0) return stdout
  throw new Error(`${env.id}: ${command} failed with ${exitCode}: ${stdout}${stderr}`)
}
