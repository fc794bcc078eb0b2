import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Everything that a copy of a tree should keep, one line per entry. */
export function describeTree(root: string): string[] {
  const lines: string[] = []
  const visit = (path: string, name: string) => {
    const info = lstatSync(path, { bigint: true })
    const mode = (info.mode & 0o7777n).toString(8)
    // Node sets times as floating point, which is only exact to a microsecond.
    const time = info.mtimeNs / 1_000_000n
    if (info.isSymbolicLink()) lines.push(`${name} -> ${readlinkSync(path)} ${time}`)
    else if (info.isDirectory()) {
      lines.push(`${name}/ ${mode} ${time}`)
      for (const child of readdirSync(path).toSorted()) visit(join(path, child), join(name, child))
    } else {
      const hash = createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 12)
      lines.push(`${name} ${mode} ${info.size} ${hash} ${time}`)
    }
  }
  visit(root, '.')
  return lines
}
