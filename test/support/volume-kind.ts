import { spawnSync } from 'node:child_process'

/** The file systems that environments can write to. */
export const volumeKinds = ['btrfs', 'ext4'] as const

export type Kind = (typeof volumeKinds)[number]

/** Where environments of this project of vitest write, unless their home says otherwise. */
export const volumeKind: Kind = isExt4() ? 'ext4' : 'btrfs'

/** As the setting says, or because this machine has nothing else. */
function isExt4(): boolean {
  const { FORKPOINT_VOLUME: chosen = 'auto' } = process.env
  if (chosen !== 'auto') return chosen === 'ext4'
  const works = 'command -v mkfs.btrfs && { grep -qw btrfs /proc/filesystems || modprobe btrfs; }'
  return spawnSync('sh', ['-c', works]).status !== 0
}
