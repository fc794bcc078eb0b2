import { readFileSync } from 'node:fs'
import { runTool } from '../run-tool.ts'

/** File systems that a home may have its volumes on. */
const onDisk = ['btrfs', 'ext4', 'xfs']

/**
 * Writes everything that environments of a home have changed to disk. A sync inside would not do: the
 * overlay of an environment ignores it.
 */
export async function syncHome(home: string): Promise<void> {
  await runTool('sync', ['--file-system', ...volumesOf(home)])
}

/** Where a home has its data: the volumes that are mounted in it, or the home itself if there are none. */
export function volumesOf(home: string): string[] {
  const volumes = mountedIn(home, readFileSync('/proc/self/mountinfo', 'utf8'))
  return volumes.length > 0 ? volumes : [home]
}

export function mountedIn(home: string, mountinfo: string): string[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [mount = '', source = ''] = line.split(' - ')
    const point = mount.split(' ')[4] ?? ''
    const isVolume = point.startsWith(`${home}/`) && onDisk.includes(source.split(' ')[0] ?? '')
    return isVolume ? [point] : []
  })
}
