import type { EnvironmentInfo } from '../../index.ts'

/** What an environment with `nat` reaches besides what its mode says; empty: nothing else. */
export function listsInWords({
  allow,
  denyOut = [],
  allowOut = [],
}: EnvironmentInfo['net']): string {
  const also = allow.length === 0 ? '' : `, and ${allow.join(', ')}`
  const not = denyOut.length === 0 ? '' : `, but nothing in ${denyOut.join(', ')}`
  const except = allowOut.length === 0 ? '' : ` except ${allowOut.join(', ')}`
  return also + not + except
}
