import { execFile } from 'node:child_process'
import { chmodSync, chownSync, copyFileSync, cpSync, mkdirSync } from 'node:fs'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { nativeProgram } from '../../src/linux/native-program.ts'
import type { TemporaryDirectory } from './temporary-directory.ts'

export const nobody = 65534

const asNobody = ['--reuid', String(nobody), '--regid', String(nobody), '--clear-groups']

/**
 * Runs a program of the tests as a user who is not root, with a home of that user's own as its first argument; returns
 * what it prints. Everything is put in a place that everybody can reach: only root may have access to the checkout.
 */
export async function runAsNobody(
  open: TemporaryDirectory,
  program: string,
  args: (home: string) => readonly string[],
): Promise<string> {
  chmodSync(open.path, 0o755)
  copyFileSync(process.execPath, open.file('node'))
  for (const name of ['agent', 'cell', 'filter'] as const) {
    cpSync(nativeProgram(name), open.file(`native/build/${name}`))
  }
  await build({
    entryPoints: [program],
    outfile: open.file('program.mjs'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // CommonJS dependencies call require(), which an ES module does not have.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  })
  const home = open.file('home')
  mkdirSync(home, { mode: 0o700 })
  chownSync(home, nobody, nobody)
  const { FORKPOINT_RUNTIME, PATH } = process.env
  const command = [open.file('node'), open.file('program.mjs'), ...args(home)]
  const { stdout } = await promisify(execFile)('setpriv', [...asNobody, ...command], {
    cwd: '/',
    env: { PATH, HOME: '/nonexistent', ...(FORKPOINT_RUNTIME && { FORKPOINT_RUNTIME }) },
  })
  return stdout
}
