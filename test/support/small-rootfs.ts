import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

const programs = ['bash', 'cat', 'echo', 'env', 'id', 'ls', 'mkdir', 'pwd', 'rm', 'sleep', 'touch']

/** A root file system of a shell and a few programs, from the host's own files. */
export function makeSmallRootfs(root: string): void {
  for (const dir of ['etc', 'root', 'tmp', 'usr/bin'])
    mkdirSync(join(root, dir), { recursive: true })
  symlinkSync('usr/bin', join(root, 'bin'))
  for (const name of programs) {
    const host = realpathSync(`/usr/bin/${name}`)
    copyInto(root, host, `/usr/bin/${name}`)
    for (const library of librariesOf(host)) copyInto(root, realpathSync(library), library)
  }
  symlinkSync('bash', join(root, 'usr/bin/sh'))
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/bash\n')
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\n')
  writeFileSync(join(root, 'etc/os-release'), 'NAME="Small"\n')
}

/** The paths that the loader looks for, its own among them. */
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
