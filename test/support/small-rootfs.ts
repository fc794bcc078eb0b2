import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeRootfs } from '../../src/bench/workloads/rootfs.ts'

const programs = ['bash', 'cat', 'echo', 'env', 'id', 'ls', 'mkdir', 'pwd', 'rm', 'sleep', 'touch']

/** A root file system of a shell and a few programs, from the host's own files. */
export function makeSmallRootfs(root: string): void {
  makeRootfs(root, programs)
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/bash\n')
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\n')
  writeFileSync(join(root, 'etc/os-release'), 'NAME="Small"\n')
}
