import { ForkpointError } from '../../model/errors.ts'
import { type EnvironmentId, newEnvironmentId, newSnapshotId } from '../../model/ids.ts'
import type { Check } from '../backend.ts'
import { abandon, capture } from './capturing.ts'
import type { Gvisor } from './gvisor.ts'
import { destroy } from './lives.ts'
import { findRunsc } from './runsc.ts'
import { create } from './starting.ts'

const name = 'gvisor'

/**
 * Starts a sandbox from the host's files and checkpoints it, as for an environment. Only warns if it cannot: other
 * backends work without it.
 */
export async function checkGvisor(gvisor: Gvisor): Promise<readonly Check[]> {
  const id = newEnvironmentId()
  try {
    const path = findRunsc(gvisor.runscPlace)
    // So that no other process takes it for a leftover.
    await gvisor.exclusively(`env:${id}`, 'doctor', () => probe(gvisor, id))
    return [{ name, status: 'ok', found: `${path} starts and checkpoints a sandbox` }]
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error)
    const remedy = error instanceof ForkpointError ? error.remedy : undefined
    return [{ name, status: 'warn', found, ...(remedy && { remedy }) }]
  }
}

async function probe(gvisor: Gvisor, id: EnvironmentId): Promise<void> {
  const draft = newSnapshotId()
  try {
    const instance = await create(gvisor, {
      id,
      source: { kind: 'host' },
      limits: {},
      net: { mode: 'none', allow: [] },
      identity: { id, name: null, hostname: 'probe', machineId: '0'.repeat(32) },
    })
    await capture(gvisor, { id, instance }, draft, {
      mode: 'full',
      memory: 'copy',
      after: 'continue',
      head: null,
    })
  } finally {
    await abandon(gvisor, null, draft)
    await destroy(gvisor, id)
  }
}
