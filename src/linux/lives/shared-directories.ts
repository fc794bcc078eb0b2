import { createHash } from 'node:crypto'
import { chmod, copyFile, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pathExists } from '../files/path-exists.ts'
import { nativeProgram } from '../native-program.ts'

/** Makes a directory under another name and renames it, so that it is complete or missing. */
export async function ensureDirectory(
  path: string,
  fill: (dir: string) => Promise<void>,
): Promise<string> {
  if (await pathExists(path)) return path
  const draft = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}.new`
  try {
    await mkdir(draft, { recursive: true, mode: 0o755 })
    await fill(draft)
    await rename(draft, path)
  } catch (error) {
    // Another process may have made the same in the meantime.
    if (!(await pathExists(path))) throw error
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return path
}

/** A copy of the agent: a restore checks that the file of a running program has not changed since. */
export async function agentCopy(shared: string): Promise<string> {
  const program = nativeProgram('agent')
  const { size, mtimeMs } = await stat(program)
  const path = join(shared, `agent-${digest(`${program} ${size} ${mtimeMs}`)}`)
  const directory = await ensureDirectory(path, async (dir) => {
    await copyFile(program, join(dir, 'agent'))
    await chmod(join(dir, 'agent'), 0o755)
  })
  return join(directory, 'agent')
}

/** A short name for this content. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
