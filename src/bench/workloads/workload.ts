import type { Environment } from '../../index.ts'

/** Something that runs in an environment while it is branched. */
export interface Workload {
  readonly name: string
  /** programs of the host that it needs */
  readonly needs: readonly string[]
  start(env: Environment): Promise<void>
  /** rejects unless it is still what it was, and goes on */
  check(env: Environment): Promise<void>
}

/** Runs a command line in the shell; its output. Rejects if it fails. */
export async function run(env: Environment, command: string): Promise<string> {
  return await succeed(env, command, () => env.exec(command, { timeoutMs: 60_000 }))
}

export async function runAs(env: Environment, user: string, command: string): Promise<string> {
  const words = ['bash', '-c', command]
  return await succeed(env, command, () => env.exec(words, { mode: 'process', user, cwd: '/' }))
}

/** Asks the shell again and again until the command line succeeds. Rejects if it never does. */
export async function runUntilDone(env: Environment, command: string): Promise<string> {
  return await run(
    env,
    `for i in {1..600}; do if (${command}) 2> /dev/null; then break; fi; sleep 0.05; false; done`,
  )
}

/** A command line that asks a server inside; `reader` has its answer as stdin. */
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
