import { expect } from 'vitest'
import type { Environment } from '../../../src/index.ts'

export async function type(env: Environment, terminal: string, keys: string): Promise<void> {
  await env.terminal(terminal).write(keys)
}

export async function textOf(env: Environment, terminal: string): Promise<string> {
  return (await env.terminal(terminal).screen()).lines.join('\n')
}

/** Waits until the terminal shows it. */
export async function see(env: Environment, terminal: string, wanted: RegExp): Promise<void> {
  await expect.poll(() => textOf(env, terminal), { timeout: 60_000, interval: 50 }).toMatch(wanted)
}

export async function typeAndSee(
  env: Environment,
  terminal: string,
  keys: string,
  wanted: RegExp,
): Promise<void> {
  await type(env, terminal, keys)
  await see(env, terminal, wanted)
}
