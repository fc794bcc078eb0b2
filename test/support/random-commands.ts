import type { Environment, ExecOptions, ExecResult } from '../../src/index.ts'

/** Numbers from 0 up to `limit`, the same for the same seed. */
export type Random = (limit: number) => number

export function randomFrom(seed: number): Random {
  let state = seed
  return (limit) => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
}

export interface RandomCommand {
  readonly line: string
  readonly options: ExecOptions
  readonly stdout: Buffer
  readonly stderr: Buffer
  readonly exitCode: number
}

/** A command whose output is known in advance, byte for byte. */
export function randomCommand(random: Random, shells: readonly string[]): RandomCommand {
  const word = `w${random(2 ** 31).toString(36)}`
  const [outBytes, errBytes] = [randomSize(random), randomSize(random)]
  const exitCode = random(3) === 0 ? random(256) : 0
  const input = random(4) === 0 ? repeated(`in-${word}`, randomSize(random)) : undefined
  const echo = input === undefined ? '' : 'cat; '
  const line = `${echo}${yes(`out-${word}`, outBytes)}; ${yes(`err-${word}`, errBytes)} >&2; (exit ${exitCode})`
  const mode = random(2) === 0 ? 'process' : 'shell'
  return {
    line,
    options: {
      mode,
      ...(mode === 'shell' && { shell: shells[random(shells.length)] ?? 'main' }),
      ...(input && { stdin: input }),
    },
    stdout: Buffer.concat([input ?? Buffer.alloc(0), repeated(`out-${word}`, outBytes)]),
    stderr: repeated(`err-${word}`, errBytes),
    exitCode,
  }
}

/** Runs it and complains about anything that is not exactly as it should be. */
export async function runExactly(env: Environment, command: RandomCommand): Promise<void> {
  const { line, options } = command
  const result = await env.exec(options.mode === 'process' ? ['bash', '-c', line] : line, options)
  const wrong = differences(command, result)
  if (wrong.length === 0) return
  throw new Error(`${env.id} ${options.mode} ${options.shell ?? ''}: ${line}\n${wrong.join('\n')}`)
}

function differences(command: RandomCommand, { raw, exitCode, signal }: ExecResult): string[] {
  const wrong: string[] = []
  if (exitCode !== command.exitCode) {
    wrong.push(`exit code ${exitCode} (signal ${signal}) instead of ${command.exitCode}`)
  }
  for (const name of ['stdout', 'stderr'] as const) {
    if (raw[name].equals(command[name])) continue
    const at = raw[name].findIndex((byte, index) => byte !== command[name][index])
    wrong.push(
      `${name} of ${raw[name].length} bytes instead of ${command[name].length}, from ${at}`,
    )
  }
  return wrong
}

/** Mostly small, sometimes more than any buffer on the way holds. */
function randomSize(random: Random): number {
  return random(20) === 0 ? random(2 ** 20) : random(2 ** random(15))
}

function yes(word: string, bytes: number): string {
  return `yes ${word} | head -c ${bytes}`
}

function repeated(word: string, bytes: number): Buffer {
  return Buffer.alloc(bytes, `${word}\n`)
}
