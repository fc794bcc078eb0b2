import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { loadSettings, type SettingsInputs } from '../../../src/config/load-settings.ts'
import { ForkpointError } from '../../../src/model/errors.ts'

export const facts = { memoryBytes: 8 * 1024 ** 3 }
export let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'forkpoint-config-'))
})

afterEach(() => {
  rmSync(dir, { recursive: true, force: true })
})

/** A file below `dir`; what is not text becomes JSON. */
export function write(name: string, content: unknown): string {
  const path = join(dir, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

/** Loads with nothing of this machine's own configuration. */
export function load(inputs: Partial<SettingsInputs> = {}) {
  const env = { HOME: dir, ...inputs.env }
  return loadSettings({ facts, systemPath: join(dir, 'system.json'), ...inputs, env })
}

export function failure(run: () => unknown): ForkpointError {
  try {
    run()
  } catch (error) {
    if (error instanceof ForkpointError) return error
    throw error
  }
  throw new Error('it was accepted')
}
