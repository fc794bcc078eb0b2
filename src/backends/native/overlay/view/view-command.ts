import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { printable } from '../../../../agent/failures.ts'
import { textToBytes } from '../../../../agent/files/byte-text.ts'
import { nativeProgram } from '../../../../linux/native-program.ts'
import { BackendError } from '../../../../model/errors.ts'

const longestComplaint = 4096
const pathsAtOnce = 1024

/**
 * The output of a `cell` command that reads files (native/cell/files/view.c), as it comes. `input` are
 * paths from the root, or whatever else the command takes as strings. Whoever stops reading ends it.
 */
export async function* viewCommand(
  doing: string,
  args: readonly string[],
  input: readonly string[] = [],
): AsyncGenerator<Buffer> {
  const child = spawn(nativeProgram('cell'), args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  closed.catch(() => {})
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(0, longestComplaint)
  })
  // A command that failed reads no further; why it did is on its stderr.
  child.stdin.on('error', () => {})
  Readable.from(encoded(input)).pipe(child.stdin)
  try {
    for await (const chunk of child.stdout) yield chunk
    const [exitCode, signal] = (await closed) as [number | null, NodeJS.Signals | null]
    if (exitCode === 0) return
    // Names in it were chosen inside.
    const why = printable(complaint.trim()) || `cell ended with ${signal}`
    throw new BackendError(`${doing} failed: ${why}`, {
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

/** All of the output, for commands whose answers are short. */
export async function viewAnswer(
  doing: string,
  args: readonly string[],
  input: readonly string[] = [],
): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of viewCommand(doing, args, input)) chunks.push(chunk)
  return Buffer.concat(chunks)
}
