import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Controllers that limits need; on a v2 or hybrid host each lives in one hierarchy or the other. */
const limited = ['memory', 'cpu', 'pids'] as const
export type Controller = (typeof limited)[number]

export interface CgroupLayout {
  /** mount point of the v2 hierarchy, which freezes and kills; null on a v1-only host */
  readonly unified: string | null
  /** mount point of the v1 freezer, used where there is no v2 */
  readonly freezer: string | null
  /** hierarchy of each controller that can be limited */
  readonly controllers: ReadonlyMap<Controller, { readonly mount: string; readonly version: 1 | 2 }>
}

/** Where the cgroup hierarchies are, from the text of /proc/self/mounts and v2's controllers. */
export function readLayout(mounts: string, controllersOf: (mount: string) => string): CgroupLayout {
  const controllers = new Map<Controller, { mount: string; version: 1 | 2 }>()
  let unified: string | null = null
  let freezer: string | null = null
  for (const line of mounts.split('\n')) {
    const [, mount = '', type, options = ''] = line.split(' ')
    if (type === 'cgroup2') {
      unified ??= mount
    } else if (type === 'cgroup') {
      // The first is the machine's own; CRIU and container tools mount others for a while.
      const names = options.split(',')
      for (const name of limited) {
        if (names.includes(name) && !controllers.has(name)) {
          controllers.set(name, { mount, version: 1 })
        }
      }
      if (names.includes('freezer')) freezer ??= mount
    }
  }
  if (unified !== null) {
    const offered = controllersOf(unified).split(/\s+/)
    for (const name of limited) {
      if (offered.includes(name) && !controllers.has(name)) {
        controllers.set(name, { mount: unified, version: 2 })
      }
    }
  }
  return { unified, freezer, controllers }
}

export function detectLayout(): CgroupLayout {
  return readLayout(readFileSync('/proc/self/mounts', 'utf8'), (mount) => {
    try {
      return readFileSync(join(mount, 'cgroup.controllers'), 'utf8')
    } catch {
      return ''
    }
  })
}
