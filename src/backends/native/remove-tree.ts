import { mustRun } from './run-tool.ts'

/**
 * Removes a directory that sandboxed code wrote into. Node's own `rm` works with whole paths in
 * UTF-8, and is defeated by trees deeper than a path can be long and by names that are not text.
 */
export async function removeTree(path: string): Promise<void> {
  await mustRun(`removing ${path}`, 'rm', ['-rf', '--', path])
}
