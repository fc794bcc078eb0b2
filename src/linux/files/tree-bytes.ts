import type { Tools } from '../tools.ts'

/** What a directory takes up on disk. */
export async function treeBytes(tools: Tools, dir: string): Promise<number> {
  const { stdout } = await tools.run('du', ['-s', '-B1', '--', dir])
  return Number.parseInt(stdout, 10) || 0
}
