import { execFileSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'

/** The path of a program from the tests' packages, even if a version manager puts another one first. */
export function programPath(name: string): string {
  const path = ['/usr/bin', '/usr/sbin'].map((dir) => `${dir}/${name}`).find(existsSync)
  if (path === undefined) throw new Error(`no ${name}; see scripts/test-packages`)
  return realpathSync(path)
}

/** Where the loader finds a library. */
export function libraryPath(name: string): string {
  const known = execFileSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8' })
  const line = known.split('\n').find((text) => text.trim().startsWith(`${name} `))
  const path = line?.split('=> ')[1]
  if (path === undefined) throw new Error(`no ${name}; see scripts/test-packages`)
  return realpathSync(path)
}

/** The HotSpot that `java` runs. */
export function hotspotPath(): string {
  return realpathSync(`${programPath('java')}/../../lib/server/libjvm.so`)
}

export function compileC(source: string, program: string, ...options: string[]): void {
  execFileSync('gcc', ['-O1', '-w', '-x', 'c', '-', '-o', program, ...options], { input: source })
}
