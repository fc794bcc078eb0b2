import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { printable } from '../../../../agent/failures.ts'
import { textToBytes } from '../../../../agent/files/byte-text.ts'
import { nativeProgram } from '../../../../linux/native-program.ts'
import { BackendError } from '../../../../model/errors.ts'

const maxStderr = 4096
const pathsAtOnce = 1024

/**
 * The output of a `cell` command that reads files (native/cell/files/view.c), as it arrives. `input` is a
 * list of paths relative to the root, or other strings for the command. It ends when the caller stops
 * reading.
 */
export async function* viewCommand(
  doing: string,
  args: readonly string[],
  input: readonly string[] = [],
): AsyncGenerator<Buffer> {
  const child = spawn(nativeProgram('cell'), args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  // Nothing is lost: it is awaited once the output ends.
  closed.catch(() => {})
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(0, maxStderr)
  })
  // A failed command stops reading; its stderr says why.
  child.stdin.on('error', () => {})
  Readable.from(encoded(input)).pipe(child.stdin)
  try {
    for await (const chunk of child.stdout) yield chunk
    const [exitCode, signal] = (await closed) as [number | null, NodeJS.Signals | null]
    if (exitCode === 0) return
    // It may contain names that were chosen inside.
    const why = printable(stderr.trim()) || `cell ended with ${signal}`
    throw new BackendError(`${doing} failed: ${why}`, {
      remedy: 'try again; if it keeps failing, run `forkpoint doctor`',
      detail: { program: 'cell', command: args[0], exitCode, signal },
    })
  } finally {
    child.kill('SIGKILL')
  }
}

function* encoded(strings: readonly string[]): Generator<Buffer> {
  const end = Buffer.of(0)
  for (let at = 0; at < strings.length; at += pathsAtOnce) {
    const some = strings.slice(at, at + pathsAtOnce)
    yield Buffer.concat(some.flatMap((text) => [textToBytes(text), end]))
  }
}

/** For a command whose output is incomplete. */
export function endedEarly(doing: string): BackendError {
  return new BackendError(`${doing} ended early`, {
    remedy:
      'try again; if it keeps failing, rebuild the program that reads files with `make -C native`',
  })
}

/** The whole output, for commands with short answers. */
export async function viewAnswer(
  doing: string,
  args: readonly string[],
  input: readonly string[] = [],
): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of viewCommand(doing, args, input)) chunks.push(chunk)
  return Buffer.concat(chunks)
}
