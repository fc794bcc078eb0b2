// Runs the commands of ```console blocks in one bash and compares what they print.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { CodeBlock } from '../../unit/docs/markdown.ts'

export interface Step {
  readonly line: number
  readonly command: string
  /** as the page shows it */
  readonly shown: string
}

/** Lines that begin with "$ " are typed (and continue after a backslash); the others are printed. */
export function stepsOf(blocks: readonly CodeBlock[]): Step[] {
  const steps: { line: number; command: string; shown: string }[] = []
  for (const block of blocks) {
    for (const [index, line] of block.text.split('\n').slice(0, -1).entries()) {
      const last = steps.at(-1)
      if (line.startsWith('$ ')) {
        steps.push({ line: block.line + index, command: line.slice(2), shown: '' })
      } else if (last?.shown === '' && last.command.endsWith('\\')) {
        last.command += `\n${line}`
      } else if (last !== undefined) {
        last.shown += `${line}\n`
      }
    }
  }
  return steps
}

const mark = '\u001e'
/** How long a background command may take to print its output. */
const backgroundTenths = 200

/** The output of each step, stdout and stderr together. */
export async function runSession(
  steps: readonly Step[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<string[]> {
  const script = steps.map(({ command }) => scriptOf(command)).join('')
  const shell = spawn('bash', ['--norc', '--noprofile'], { env, cwd })
  let output = ''
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  shell.stdin.end(`exec 2>&1\n${script}jobs -p | xargs -r kill; wait\n`)
  await once(shell, 'close')
  return output.split(mark).slice(0, steps.length)
}

/** The next step sees `$?` of the one before. No step may read the script itself as input. */
function scriptOf(command: string): string {
  const [, background] = /^(.*)&\s*$/s.exec(command) ?? []
  const run = background === undefined ? `{ ${command}\n} </dev/null` : inBackground(background)
  return `${run}; __status=$?; printf '${mark}'; (exit $__status)\n`
}

/** Waits for the first output, which would otherwise mix with that of later steps. */
function inBackground(command: string): string {
  const wait = `for i in {1..${backgroundTenths}}; do [ -s "$__out" ] && break; sleep 0.1; done`
  return `__out=$(mktemp -p .); ${command}</dev/null >"$__out" 2>&1 & ${wait}; cat "$__out"`
}

/** Replaces what differs from run to run: ids, ages, times, sizes, ports and column widths. */
export function normalised(output: string): string {
  return output
    .replaceAll(/\b[es][0-9a-hjkmnp-tv-z]{11}\b/g, 'ID')
    .replaceAll(/\b\d+[smhd]\b/g, 'AGE')
    .replaceAll(/\b\d+(\.\d+)? (ms|s|min|h)\b/g, 'TIME')
    .replaceAll(/\b\d+(\.\d+)? ([KMGT]i)?B\b/g, 'SIZE')
    .replaceAll(/\[1\] \d+/g, '[1] PID')
    .replaceAll(/ {2,}/g, '  ')
    .trimEnd()
}
