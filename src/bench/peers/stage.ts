import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ticking } from '../workloads/idle-shell.ts'
import { copyPython, holdCommand, python } from '../workloads/python.ts'
import { makeRootfs } from '../workloads/rootfs.ts'
import { workspace } from './copy-restart.ts'
import type { PeerProgram, PeerStage } from './peer.ts'

const programs = ['bash', 'perl', python, 'mount', 'umount', 'pivot_root']
const workspaceFiles = 1000

/** The same root file system for all peers: their programs, and a workspace of a thousand files. */
export function makePeerStage(
  dir: string,
  crius: Pick<PeerStage, 'criu' | 'quickCriu'>,
): PeerStage {
  const rootfs = join(dir, 'rootfs')
  makeRootfs(rootfs, programs)
  copyPython(rootfs)
  for (const name of ['dev', 'old', 'proc', 'run', 'sys', workspace]) {
    mkdirSync(join(rootfs, name), { recursive: true })
  }
  execFileSync('mknod', [join(rootfs, 'dev/null'), 'c', '1', '3'])
  for (let i = 0; i < workspaceFiles; i += 1) {
    writeFileSync(join(rootfs, workspace, `file-${i}`), `${i}\n`.repeat(800))
  }
  const { criu, quickCriu } = crius
  return { dir, rootfs, criu, quickCriu }
}

export const idleProgram: PeerProgram = {
  slug: 'idle',
  command: () => `echo ready; ${ticking} & wait`,
}

export function pythonProgram(megabytes: number): PeerProgram {
  return {
    slug: `py${megabytes}`,
    command: (place) => `${holdCommand(megabytes, place)} & wait`,
  }
}
