import { readFileSync, statSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** One file of the dashboard, as it is sent. */
export interface WebFile {
  readonly bytes: Buffer
  readonly type: string
  readonly encoding: 'gzip' | null
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.md': 'text/markdown; charset=utf-8',
}

/** Where the built dashboard is; null if this checkout has not built it. */
export function webRoot(): string | null {
  for (let dir = dirname(fileURLToPath(import.meta.url)); dir !== '/'; dir = dirname(dir)) {
    const root = join(dir, 'dist/web')
    if (isFile(join(root, 'index.html'))) return root
  }
  return null
}

/** Names that the build makes: no directory, no dot in front, nothing that leads elsewhere. */
const plainName = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/

/** A file below the root by the parts of its path; null if there is none. */
export function webFile(
  root: string,
  parts: readonly string[],
  accepts: 'gzip' | 'plain',
): WebFile | null {
  const type = types[extname(parts.at(-1) ?? '')]
  if (type === undefined || !parts.every((part) => plainName.test(part))) return null
  const path = join(root, ...parts)
  const packed = accepts === 'gzip' ? readIfThere(`${path}.gz`) : null
  if (packed !== null) return { bytes: packed, type, encoding: 'gzip' }
  const bytes = readIfThere(path)
  return bytes === null ? null : { bytes, type, encoding: null }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function readIfThere(path: string): Buffer | null {
  return isFile(path) ? readFileSync(path) : null
}
