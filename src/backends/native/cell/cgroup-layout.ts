import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Controllers that limits need. On a hybrid host, each is in either the v1 or the v2 hierarchy. */
const limited = ['memory', 'cpu', 'pids', 'io'] as const
export type Controller = (typeof limited)[number]

export interface CgroupLayout {
  /** mount point of the v2 hierarchy, which freezes and kills; null on a v1-only host */
  readonly unified: string | null
  /** mount point of the v1 freezer, used if there is no v2 */
  readonly freezer: string | null
  /** hierarchy of each controller that can be limited */
  readonly controllers: ReadonlyMap<Controller, { readonly mount: string; readonly version: 1 | 2 }>
  /** hierarchy that denies access to devices: v2 if it takes BPF programs; null if neither can */
  readonly devices: { readonly mount: string; readonly version: 1 | 2 } | null
}

/** What the kernel reports in addition to its mounts. */
export interface KernelFacts {
  /** names of the controllers of a v2 hierarchy */
  controllersOf(mount: string): string
  readonly bpf: 'built-in' | 'missing'
}

/** Exists with `CONFIG_BPF_SYSCALL`. `doctor` probes whether cgroups take BPF programs, too. */
const bpfSetting = '/proc/sys/kernel/unprivileged_bpf_disabled'

/** Where the cgroup hierarchies are, from the text of /proc/self/mounts. */
export function readLayout(mounts: string, { controllersOf, bpf }: KernelFacts): CgroupLayout {
  const hierarchies = mounts.split('\n').map((line) => line.split(' '))
  const unified = hierarchies.find(([, , type]) => type === 'cgroup2')?.[1] ?? null
  const v1 = new Map<string, string>()
  for (const [, mount = '', type, options = ''] of hierarchies) {
    if (type !== 'cgroup') continue
    // The first mount is the machine's own; CRIU and container tools add others for a while.
    for (const name of options.split(',')) if (!v1.has(name)) v1.set(name, mount)
  }
  const v2 = unified === null ? [] : controllersOf(unified).split(/\s+/)
  const controllers = new Map<Controller, { mount: string; version: 1 | 2 }>()
  for (const name of limited) {
    const mount = v1.get(name === 'io' ? 'blkio' : name)
    if (mount !== undefined) controllers.set(name, { mount, version: 1 })
    else if (unified !== null && v2.includes(name)) {
      controllers.set(name, { mount: unified, version: 2 })
    }
  }
  const devices = devicesAt(unified, v1.get('devices') ?? null, bpf)
  return { unified, freezer: v1.get('freezer') ?? null, controllers, devices }
}

/** One program in v2 serves all cells of a home; v1 needs one more group for each cell. */
function devicesAt(
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
        // Without this file, the hierarchy offers no controllers.
        return ''
      }
    },
    bpf: existsSync(bpfSetting) ? 'built-in' : 'missing',
  })
}
