import { hash } from 'node:crypto'
import type { EnvironmentInfo, PolicyInfo } from '../../api/contract/data/environment.ts'
import type { SnapshotInfo } from '../../api/contract/data/snapshot.ts'
import type { EnvironmentRecord, Instance } from '../../model/environment.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import { capabilitiesOfLife } from '../capabilities.ts'
import type { Engine } from '../engine.ts'
import { expiresAt, idleDue } from '../policies/due.ts'

/** The part of an environment's record that users see. */
export function environmentInfo(engine: Engine, record: EnvironmentRecord): EnvironmentInfo {
  const { instance, policy: _policy, sleptAt: _sleptAt, principal: _principal, ...visible } = record
  return {
    ...visible,
    kind: 'environment',
    lost: record.lost ?? [],
    copies: record.copies ?? [],
    life: instance && lifeOf(instance),
    capabilities: [...capabilitiesOfLife(engine.backend(record.backend), instance)],
    policy: policyInfo(engine, record),
    execTimeoutMs: engine.settings.exec.timeoutMs,
  }
}

function policyInfo({ settings, store }: Engine, record: EnvironmentRecord): PolicyInfo {
  const { policy = { wake: settings.wake } } = record
  const { ttlMs = null, ttlAction = 'remove', idle = null, wake } = policy
  const due = idle && idleDue(record, store.activity.lastAt(record.id))
  const times = { expiresAt: expiresAt(record), idleAt: due?.at ?? null }
  return { ttlMs, ttlAction, idle, wake, ...times }
}

/** Every command asks for it, so it is computed once for each record that was read. */
const lives = new WeakMap<Instance, string>()

/** Distinguishes one life from the next, and reveals nothing about it. */
function lifeOf(instance: Instance): string {
  const life = lives.get(instance) ?? hash('sha1', JSON.stringify(instance)).slice(0, 16)
  lives.set(instance, life)
  return life
}

/** The part of a snapshot's record that users see. */
export function snapshotInfo(record: SnapshotRecord): SnapshotInfo {
  const {
    image: _image,
    origin: { workdir },
    shells: _shells,
    principal: _principal,
    ...visible
  } = record
  return { ...visible, kind: 'snapshot', workdir, lost: record.lost ?? [] }
}
