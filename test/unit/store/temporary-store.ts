import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach } from 'vitest'
import type { EnvironmentRecord } from '../../../src/model/environment.ts'
import { newEnvironmentId } from '../../../src/model/ids.ts'
import { openStore, type Store } from '../../../src/store/open-store.ts'

const program = fileURLToPath(new URL('programs/program.ts', import.meta.url))
const cleanups: (() => void | Promise<void>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

export function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'forkpoint-store-'))
  cleanups.push(() => rmSync(home, { recursive: true, force: true }))
  return home
}

export function temporaryStore(home = temporaryHome()): Store {
  const store = openStore(home)
  cleanups.push(() => store.close())
  return store
}

/** Another Forkpoint process; it does not outlive the test. */
export function start(verb: string, home: string, ...args: string[]): ChildProcess {
  const flags = ['--disable-warning=ExperimentalWarning', program, verb, home, ...args]
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] })
  cleanups.push(() => kill(child))
  return child
}

/** A moment by which all processes started now will be ready; they share two cores. */
export function soon(): string {
  return String(Date.now() + 1500)
}

export async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the child has no stdout')
  for await (const line of createInterface(child.stdout)) return line
  throw new Error('the child printed nothing')
}

export async function exitCode(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}

/** SIGKILL, and waits until it is reaped. */
export async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await exitCode(child)
}

export function someEnvironment(changes: Partial<EnvironmentRecord> = {}): EnvironmentRecord {
  return {
    id: newEnvironmentId(),
    name: null,
    backend: 'native',
    status: 'running',
    head: null,
    source: { kind: 'host' },
    limits: { memoryBytes: 1024 ** 3, pids: 100 },
    net: { mode: 'none', allow: [] },
    env: { LANG: 'C.UTF-8' },
    workdir: '/root',
    labels: {},
    hostname: 'box',
    createdAt: Date.now(),
    instance: null,
    ...changes,
  }
}
