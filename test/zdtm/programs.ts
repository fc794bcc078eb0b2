// CRIU's test programs, as scripts/bootstrap has built them.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Program {
  readonly name: string
  /** of the executable on the host */
  readonly path: string
  /** how its Makefile would start it */
  readonly command: string
  /** whom it runs as: CRIU's runner gives most of them a user of their own */
  readonly who: 'root' | 'user'
}

export interface Suite {
  readonly version: string
  readonly programs: readonly Program[]
}

export function readSuite(runtime: string): Suite {
  const place = join(runtime, 'zdtm')
  const read = (name: string) => readFileSync(join(place, name), 'utf8').trim()
  const programs = read('commands')
    .split('\n')
    .map((command): Program => {
      const name = /^\.\/([\w.+-]+) /.exec(command)?.[1]
      if (name === undefined) throw new Error(`not the command line of a program: ${command}`)
      const description = join(place, 'descriptions', name)
      const words = existsSync(description) ? readFileSync(description, 'utf8') : ''
      const who = /['"]flags['"]\s*:\s*['"][^'"]*\bsuid\b/.test(words) ? 'root' : 'user'
      return { name, path: join(place, 'programs', name), command, who }
    })
  return { version: read('version'), programs }
}
