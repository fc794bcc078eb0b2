import { mustRun, runTool } from './run-tool.ts'

/**
 * Removes a directory that sandboxed code wrote into. Node's own `rm` works with whole paths in
 * UTF-8, and is defeated by trees deeper than a path can be long and by names that are not text.
 */
export async function removeTree(path: string): Promise<void> {
  const args = ['-rf', '--', path]
  // A flush of another process may add a file while the tree is being removed; once it is gone, not.
  const { exitCode } = await runTool('rm', args)
  if (exitCode !== 0) await mustRun(`removing ${path}`, 'rm', args)
}
