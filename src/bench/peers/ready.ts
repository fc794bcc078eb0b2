import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const patienceMs = 120_000

/** Waits until the program has written "ready" to the file. */
export async function readyInFile(file: string): Promise<void> {
  const end = performance.now() + patienceMs
  while (performance.now() < end) {
    if (existsSync(file) && readFileSync(file, 'utf8').includes('ready\n')) return
    await sleep(20)
  }
  throw new Error(`the program was not ready in time: ${file}`)
}

/** Starts a program and resolves when it has printed "ready"; the program continues. */
export async function startUntilReady(
  command: string,
  words: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv } = {},
): Promise<ChildProcess> {
  const child = spawn(command, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let said = ''
  const collect = (chunk: Buffer) => {
    said = (said + chunk).slice(-10_000)
    if (said.includes('ready\n')) resolve()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  child.once('error', reject)
  child.once('exit', () => reject(new Error(`${command} ended before it was ready: ${said}`)))
  await promise
  return child
}
