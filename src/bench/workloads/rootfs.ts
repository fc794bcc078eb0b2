import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Makes a root file system from programs of the host, by name or path, with the libraries they load. */
export function makeRootfs(root: string, programs: readonly string[]): void {
  for (const dir of ['etc', 'root', 'tmp', 'usr/bin']) {
    mkdirSync(join(root, dir), { recursive: true })
  }
  symlinkSync('usr/bin', join(root, 'bin'))
  symlinkSync('bash', join(root, 'usr/bin/sh'))
  for (const program of programs) copyProgram(root, program)
}

function copyProgram(root: string, program: string): void {
  const host = execFileSync('which', [program], { encoding: 'utf8' }).trim()
  copyInto(root, realpathSync(host), `/usr/bin/${basename(program)}`)
  copyLibraries(root, host)
}

/** Copies the libraries that the loader needs to start a program or load a library, including itself. */
export function copyLibraries(root: string, file: string): void {
  const text = execFileSync('ldd', [file], { encoding: 'utf8' })
  for (const [, library = ''] of text.matchAll(/(\/\S+) \(0x/g)) {
    copyInto(root, realpathSync(library), library)
  }
}

export function copyInto(root: string, from: string, to: string): void {
  const target = join(root, to)
  if (existsSync(target)) return
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(from, target)
}
