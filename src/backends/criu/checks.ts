import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ForkpointError } from '../../model/errors.ts'
import { type EnvironmentId, newEnvironmentId, newSnapshotId } from '../../model/ids.ts'
import type { Check } from '../backend.ts'
import { abandon, capture } from './capturing.ts'
import { destroy } from './lives.ts'
import { type Plain, requireRoot } from './plain.ts'
import { create } from './starting.ts'

/** The native backend has a check of CRIU itself. */
const name = 'criu backend'

/** Starts an agent and dumps it, as for an environment. Only warns if it cannot: other backends work without it. */
export async function checkCriu(plain: Plain): Promise<readonly Check[]> {
  try {
    requireRoot()
    const words = plain.criu()
    const id = newEnvironmentId()
    // So that no other process takes it for a leftover.
    await plain.exclusively(`env:${id}`, 'doctor', () => probe(plain, id))
    return [
      { name, status: 'ok', found: `${words.at(-1)} dumps an agent in namespaces of its own` },
    ]
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error)
    const remedy = error instanceof ForkpointError ? error.remedy : undefined
    return [{ name, status: 'warn', found, ...(remedy && { remedy }) }]
  }
}

async function probe(plain: Plain, id: EnvironmentId): Promise<void> {
  const draft = newSnapshotId()
  // Not below this backend's own directory, whose content is looked for.
  const directory = await mkdtemp(join(plain.home, 'criu-probe-'))
  try {
    const instance = await create(plain, {
      id,
      source: { kind: 'dir', path: directory },
      limits: {},
      net: { mode: 'none', allow: [] },
      identity: { id, name: null, hostname: 'probe', machineId: '0'.repeat(32) },
    })
    await capture(plain, { id, instance }, draft, {
      mode: 'full',
      memory: 'copy',
      after: 'continue',
      head: null,
    })
  } finally {
    await abandon(plain, null, draft)
    await destroy(plain, id)
    await rm(directory, { recursive: true, force: true })
  }
}
