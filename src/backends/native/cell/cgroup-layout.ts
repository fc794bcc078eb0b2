import { existsSync, readFileSync } from 'node:fs'
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
  /** hierarchy that keeps processes from devices: v2 where it takes BPF programs; null if none can */
  readonly devices: { readonly mount: string; readonly version: 1 | 2 } | null
}

/** What the kernel tells beside its mounts. */
export interface KernelFacts {
  /** names of the controllers of a v2 hierarchy */
  controllersOf(mount: string): string
  readonly bpf: 'built-in' | 'missing'
}

/** There with `CONFIG_BPF_SYSCALL`; that programs for cgroups are built as well, `doctor` probes. */
const bpfSetting = '/proc/sys/kernel/unprivileged_bpf_disabled'

/** Where the cgroup hierarchies are, from the text of /proc/self/mounts. */
export function readLayout(mounts: string, { controllersOf, bpf }: KernelFacts): CgroupLayout {
  const controllers = new Map<Controller, { mount: string; version: 1 | 2 }>()
  let unified: string | null = null
  let freezer: string | null = null
  let devices: string | null = null
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
      if (names.includes('devices')) devices ??= mount
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
  return { unified, freezer, controllers, devices: whereDevices(unified, devices, bpf) }
}

/** One program in v2 serves all cells of a home; v1 needs a group more for each. */
function whereDevices(
  unified: string | null,
  v1: string | null,
  bpf: KernelFacts['bpf'],
): CgroupLayout['devices'] {
  if (unified !== null && bpf === 'built-in') return { mount: unified, version: 2 }
  return v1 === null ? null : { mount: v1, version: 1 }
}

export function detectLayout(): CgroupLayout {
  return readLayout(readFileSync('/proc/self/mounts', 'utf8'), {
    controllersOf: (mount) => {
      try {
        return readFileSync(join(mount, 'cgroup.controllers'), 'utf8')
      } catch {
        return ''
      }
    },
    bpf: existsSync(bpfSetting) ? 'built-in' : 'missing',
  })
}
