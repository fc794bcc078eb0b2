import { existsSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { ifThere } from '../../../linux/if-there.ts'
import { cgroupAt } from './cgroup.ts'
import type { CgroupLayout } from './cgroup-layout.ts'

/**
 * The key that a group lies under. Keys were once made of the home's path as it was given, links and
 * all: what began under such a name is still there. Ids are random, so no other home has the same.
 */
export function keyOfGroup(layout: CgroupLayout, key: string, name: string): string {
  const mount = layout.unified ?? layout.freezer
  if (mount === null || existsSync(cgroupAt(mount, key, name))) return key
  const all = dirname(dirname(cgroupAt(mount, key, name)))
  const keys = ifThere(() => readdirSync(all, { withFileTypes: true })) ?? []
  const found = keys.find((entry) => existsSync(cgroupAt(mount, entry.name, name)))
  return found?.name ?? key
}
