import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Everything below a directory of the host, with what would show that somebody was there. */
export function listTree(dir: string): string {
  const rows = readdirSync(dir, { recursive: true, encoding: 'utf8' }).toSorted()
  return ['.', ...rows]
    .map((name) => {
      const info = lstatSync(join(dir, name))
      const content = info.isFile() ? readFileSync(join(dir, name), 'base64') : ''
      return `${name} ${info.mode.toString(8)} ${info.uid} ${info.ino} ${info.mtimeMs} ${info.ctimeMs} ${content}`
    })
    .join('\n')
}
