import {
  type EnvironmentId,
  isEnvironmentId,
  isSnapshotId,
  type SnapshotId,
} from '../../model/ids.ts'
import { checked, either, value } from '../inputs/checked.ts'
import { word } from '../inputs/values.ts'

const accepted = 'an environment or a snapshot, as `create`, `get`, `fork` and `snapshot` return'

const handle = value(accepted, (given) => {
  const id = typeof given === 'object' && given !== null && 'id' in given ? given.id : undefined
  return isEnvironmentId(id) || isSnapshotId(id) ? id : undefined
})

const reference = either(`${accepted}, or its name or id`, word, handle)

/** The id of an environment or snapshot that a caller passes, whatever its class. */
export function idOf(what: string, given: unknown): EnvironmentId | SnapshotId {
  return checked(what, handle, given)
}

/** The same, or a name or id as text. */
export function referenceOf(what: string, given: unknown): string {
  return checked(what, reference, given)
}
