import type { NetMode, NetSpec } from '../../model/environment.ts'
import { InvalidInputError } from '../../model/errors.ts'

type Networks = readonly string[] | undefined

interface Lists {
  readonly allow: Networks
  readonly denyOut: Networks
  readonly allowOut: Networks
}

/** A network as it is kept: lists that say nothing are left out. */
export function netSpec(
  mode: NetMode,
  { allow = [], denyOut = [], allowOut = [] }: Lists,
): NetSpec {
  if (allowOut.length > 0 && denyOut.length === 0) {
    throw new InvalidInputError('networks are allowed as exceptions, but none are denied', {
      remedy: 'deny 0.0.0.0/0, too, so that nothing else can be reached',
    })
  }
  return {
    mode,
    allow,
    ...(denyOut.length > 0 && { denyOut }),
    ...(allowOut.length > 0 && { allowOut }),
  }
}

/** Whether a network says more than its mode. */
export function hasLists({ allow, denyOut = [] }: NetSpec): boolean {
  return allow.length > 0 || denyOut.length > 0
}
