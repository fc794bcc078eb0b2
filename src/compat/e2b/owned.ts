import type { EnvironmentInfo } from '../../api/contract/data/environment.ts'
import type { SnapshotInfo } from '../../api/contract/data/snapshot.ts'
import type { Environment } from '../../api/handles/environment.ts'
import type { Snapshot } from '../../api/handles/snapshot.ts'
import { NotFoundError } from '../../model/errors.ts'
import { isEnvironmentId } from '../../model/ids.ts'
import { noSandbox } from './failures.ts'
import type { KeyHolder, Visit } from './host.ts'

/** Labels of this wire, on the environments and snapshots that it makes. */
export const ownLabels = {
  /** the id of the key that made it */
  key: 'e2b.key',
  template: 'e2b.template',
  /** variables of every command, as JSON, where the environment itself cannot have them */
  envs: 'e2b.envs',
  /** `no`: its ports need its traffic token */
  public: 'e2b.public',
} as const

export const ownPrefix = 'e2b.'

/**
 * A key sees what it made itself. One with labels shares everything that carries them with other keys of
 * the same labels; the handles see to that.
 */
export function isOwn(
  { id, labels }: Pick<KeyHolder, 'id' | 'labels'>,
  made: Pick<EnvironmentInfo | SnapshotInfo, 'labels'>,
): boolean {
  const maker = made.labels[ownLabels.key]
  return maker !== undefined && (maker === id || Object.keys(labels).length > 0)
}

/** By its whole id: names and shortened ids are not this wire's. */
export async function ownSandbox(
  { forkpoint, principal }: Visit,
  id: string,
): Promise<Environment> {
  if (!isEnvironmentId(id)) throw noSandbox(id)
  const found = await forkpoint.get(id).catch((error: unknown) => {
    throw error instanceof NotFoundError ? noSandbox(id) : error
  })
  if (!isOwn(principal, found.lastInfo)) throw noSandbox(id)
  return found
}

/** By id or name; null if the key has none. */
export async function ownSnapshot(
  { forkpoint, principal }: Visit,
  reference: string,
): Promise<Snapshot | null> {
  try {
    const found = await forkpoint.snapshot(reference)
    return isOwn(principal, found.lastInfo) ? found : null
  } catch (error) {
    if (error instanceof NotFoundError) return null
    throw error
  }
}
