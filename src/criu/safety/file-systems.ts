import { readFileSync } from 'node:fs'

/** File systems on this machine's disks and memory; others may make a reader wait forever. */
const local = new Set([
  'ext2',
  'ext3',
  'ext4',
  'xfs',
  'btrfs',
  'f2fs',
  'zfs',
  'bcachefs',
  'overlay',
  'squashfs',
  'erofs',
  'tmpfs',
  'ramfs',
])

/** A line of mountinfo: the device is third, and the type follows the only lone dash. */
const mount = /^\d+ \d+ (\d+):(\d+) .* - (\S+) /

/** Knows which files can be read without waiting, by their devices as /proc/PID/maps writes them. */
export class FileSystems {
  readonly #types = new Map<string, string>()

  isLocal(device: string, pid: number): boolean {
    // This process may have another root than the last one, and see other mounts.
    if (!this.#types.has(device)) this.#learn(pid)
    return local.has(this.#types.get(device) ?? '')
  }

  #learn(pid: number): void {
    for (const line of mountsOf(pid).split('\n')) {
      const [, major, minor, type] = mount.exec(line) ?? []
      if (type !== undefined) this.#types.set(`${hex(major)}:${hex(minor)}`, type)
    }
  }
}

function hex(decimal = ''): string {
  return Number(decimal).toString(16).padStart(2, '0')
}

function mountsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
  } catch {
    // The process has ended; files on an unknown device are not read.
    return ''
  }
}
