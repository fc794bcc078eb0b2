import { setTimeout as sleep } from 'node:timers/promises'
import { Forkpoint, type OpenOptions } from '../index.ts'

/** Measured: a spare of a 2 GB session is there within a second. */
const settleMs = 1500

/** The same with this many warm spares; null if this release knows no spares. */
export function withSpares(options: OpenOptions, count: number): OpenOptions | null {
  if (!Object.hasOwn(Forkpoint.settings(options).origins, 'spares.count')) return null
  return { ...options, settings: { ...options.settings, ['spares.count' as string]: count } }
}

/** Resolves when a restore or a fork would find what was prepared in the background. */
export async function spareReady(): Promise<void> {
  await sleep(settleMs)
}
