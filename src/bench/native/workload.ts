import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A shell that waits for a process that wakes up a hundred times a second. */
export const ticking = "perl -e 'select(undef, undef, undef, 0.01) while 1' & wait"

const programs = ['bash', 'perl', 'mount', 'umount', 'pivot_root']

/** A root file system that holds just that, from the host's own files. */
export function makeRootfs(root: string): void {
  for (const dir of ['dev', 'etc', 'old', 'proc', 'run', 'sys', 'tmp', 'usr/bin']) {
    mkdirSync(join(root, dir), { recursive: true })
  }
  for (const link of ['bin', 'sbin']) symlinkSync('usr/bin', join(root, link))
  for (const name of programs) {
    const host = execFileSync('which', [name], { encoding: 'utf8' }).trim()
    copyInto(root, realpathSync(host), `/usr/bin/${name}`)
    for (const library of librariesOf(host)) copyInto(root, realpathSync(library), library)
  }
  symlinkSync('bash', join(root, 'usr/bin/sh'))
  execFileSync('mknod', [join(root, 'dev/null'), 'c', '1', '3'])
}

function librariesOf(program: string): string[] {
  const text = execFileSync('ldd', [program], { encoding: 'utf8' })
  return [...text.matchAll(/(\/\S+) \(0x/g)].map((match) => match[1] ?? '').filter(Boolean)
}

function copyInto(root: string, from: string, to: string): void {
  const target = join(root, to)
  if (existsSync(target)) return
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(from, target)
}
