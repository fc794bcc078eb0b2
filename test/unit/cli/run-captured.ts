import { Writable } from 'node:stream'
import { run } from '../../../src/cli/run.ts'

/** Runs a command line in this process and keeps what it printed. */
export async function runCaptured(...argv: string[]) {
  const stdout = new Capture()
  const stderr = new Capture()
  const exitCode = await run(argv, { stdout, stderr })
  return { exitCode, stdout: stdout.text, stderr: stderr.text }
}

class Capture extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}
