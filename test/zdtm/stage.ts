// One environment with a group of programs: starts them, and later tells them to check what they see.
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../src/index.ts'
import type { Program } from './programs.ts'

const place = '/zdtm'
const patienceMs = 240_000

/** What each program said: "ok", or a complaint. */
export type Said = ReadonlyMap<string, string>

export async function start(env: Environment, programs: readonly Program[]): Promise<Said> {
  const packed = packedPrograms(programs)
  try {
    await env.files.upload(packed, place)
  } finally {
    rmSync(packed, { recursive: true })
  }
  return await ask(env, 'start')
}

/** Ends the programs, each of which then checks that nothing has changed around it. */
export async function stop(env: Environment): Promise<Said> {
  return await ask(env, 'stop')
}

function packedPrograms(programs: readonly Program[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'forkpoint-zdtm-'))
  // Most programs run as a user that is not root.
  chmodSync(directory, 0o755)
  for (const { name, path } of programs) {
    mkdirSync(join(directory, name))
    copyFileSync(path, join(directory, name, name))
  }
  const list = programs.map(({ name, who, command }) => `${name}\t${who}\t${command}\n`)
  writeFileSync(join(directory, 'list'), list.join(''))
  const script = readFileSync(join(import.meta.dirname, 'inside.sh'))
  writeFileSync(join(directory, 'inside.sh'), script)
  return directory
}

async function ask(env: Environment, verb: 'start' | 'stop'): Promise<Said> {
  const words = ['bash', `${place}/inside.sh`, verb]
  const { stdout, stderr, exitCode } = await env.exec(words, { timeoutMs: patienceMs })
  if (exitCode !== 0) throw new Error(`${words.join(' ')} ended with ${exitCode}: ${stderr}`)
  const lines = stdout.split('\n').filter(Boolean)
  return new Map(
    lines.map((line) => {
      const [name = '', said = ''] = line.split('\t')
      return [name, said]
    }),
  )
}
