import * as z from 'zod/mini'
import {
  type EnvironmentId,
  isEnvironmentId,
  isSnapshotId,
  type SnapshotId,
} from '../../model/ids.ts'
import { type Input, value } from './checked.ts'

/** An id that `isId` recognizes. */
function id<T>(accepts: string, isId: (given: unknown) => given is T): Input<T> {
  return value(accepts, (given) => (isId(given) ? given : undefined), z.string({ error: accepts }))
}

export const environmentId: Input<EnvironmentId> = id('the id of an environment', isEnvironmentId)

export const snapshotId: Input<SnapshotId> = id('the id of a snapshot', isSnapshotId)

const isEither = (given: unknown): given is EnvironmentId | SnapshotId =>
  isEnvironmentId(given) || isSnapshotId(given)

export const eitherId: Input<EnvironmentId | SnapshotId> = id(
  'the id of an environment or a snapshot',
  isEither,
)
