import type { Tools } from '../../linux/tools.ts'
import { entering } from './namespaces.ts'
import { linksOf } from './terminals.ts'

/** A connected Unix socket in the words of `ss`: its inode and that of its other end. */
const connected = /^u_(?:str|seq)\s+ESTAB\s.*\s(\d+)\s+\S+\s+(\d+)\s*$/

/** Inodes of the Unix sockets in the tree whose other ends are outside, such as a standard output of Node. */
export async function outerSockets(tools: Tools, tree: readonly number[]): Promise<string[]> {
  const own = new Set(
    tree.flatMap(linksOf).flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []),
  )
  const [root = 0] = tree
  if (own.size === 0) return []
  const [program = '', ...words] = [...entering(root, ['net']), 'ss', '-xanH']
  const text = await tools.mustRun('listing Unix sockets', program, words)
  return text.split('\n').flatMap((line) => {
    const [, inode = '', peer = ''] = connected.exec(line) ?? []
    return own.has(inode) && !own.has(peer) ? [inode] : []
  })
}
