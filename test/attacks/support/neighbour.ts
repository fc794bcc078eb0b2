import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync } from 'node:fs'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { attackProgram } from './attack-program.ts'
import { LineReader } from './line-reader.ts'

/** A flood on the host itself, by a process with the ids of a user inside. It ends when it is disposed. */
export async function floodAsUser(user: number, name: string): Promise<AsyncDisposable> {
  const files = new TemporaryDirectory()
  chmodSync(files.path, 0o755)
  copyFileSync(attackProgram(), files.file('attacks'))
  const child = spawn(files.file('attacks'), ['run', name], {
    uid: user,
    gid: user,
    cwd: '/',
    env: {},
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await new LineReader(child.stdout).until('done')
  return {
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await once(child, 'close')
      files[Symbol.dispose]()
    },
  }
}
