import type { Tools } from '../tools.ts'

/**
 * Removes a directory that sandboxed code wrote to. Node's own `rm` uses whole paths in UTF-8, so it fails
 * on very deep trees and on names that are not text.
 */
export async function removeTree(tools: Tools, path: string): Promise<void> {
  const args = ['-rf', '--', path]
  // A flush in another process may add a file while the tree is being removed, so try twice.
  const { exitCode } = await tools.run('rm', args)
  if (exitCode !== 0) await tools.mustRun(`removing ${path}`, 'rm', args)
}
