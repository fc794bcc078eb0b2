import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { KillPoint } from '../../src/linux/kill-points.ts'
import { noteKill } from '../support/evidence.ts'
import { ended } from '../support/run-program.ts'
import type { Subject } from './subject.ts'

const program = fileURLToPath(new URL('programs/operate.ts', import.meta.url))

/** Another process on the same home, which is killed at this moment of its operation. */
export async function killAt(
  { backend, places }: Subject,
  point: KillPoint,
  ...words: readonly string[]
): Promise<void> {
  const node = ['--disable-warning=ExperimentalWarning', program]
  const child = spawn(process.execPath, [...node, backend, JSON.stringify(places), ...words], {
    env: { ...process.env, FORKPOINT_KILL_AT: point },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const { signal, stderr } = await ended(child)
  if (signal !== 'SIGKILL')
    throw new Error(`${words.join(' ')} was not killed at ${point}: ${stderr}`)
  noteKill(point, signal)
}
