import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

const mostLines = 1000

/** The lines of earlier sessions, newest first, as readline wants them. */
export async function readHistory(path: string): Promise<string[]> {
  try {
    const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '')
    return lines.reverse().slice(0, mostLines)
  } catch {
    // There were none, or this user may not read them; nothing depends on them.
    return []
  }
}

/** Keeps the lines for the next session; `lines` are newest first. */
export async function writeHistory(path: string, lines: readonly string[]): Promise<void> {
  const kept = lines.slice(0, mostLines).toReversed()
  const staged = `${path}.${process.pid}`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(staged, kept.map((line) => `${line}\n`).join(''), { mode: 0o600 })
  await rename(staged, path)
}
