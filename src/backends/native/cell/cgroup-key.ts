import { existsSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { ifExists } from '../../../linux/files/if-exists.ts'
import { cgroupAt } from './cgroup.ts'
import type { CgroupLayout } from './cgroup-layout.ts'

/**
 * The key that a group lies under. Earlier versions made the key from the path of the home as given,
 * without resolving links, and groups with such a key may still exist. Ids are random, so no other home
 * has the same.
 */
export function keyOfGroup(layout: CgroupLayout, key: string, name: string): string {
  const mount = layout.unified ?? layout.freezer
  if (mount === null || existsSync(cgroupAt(mount, key, name))) return key
  const all = dirname(dirname(cgroupAt(mount, key, name)))
  const keys = ifExists(() => readdirSync(all, { withFileTypes: true })) ?? []
  const found = keys.find((entry) => existsSync(cgroupAt(mount, entry.name, name)))
  return found?.name ?? key
}
