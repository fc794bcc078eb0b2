import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Subject } from './subject.ts'

const root = join(import.meta.dirname, '../..')
const api = pathToFileURL(join(root, 'src/index.ts')).href

/** What examples/try-a-then-b.ts prints if it makes its environment this way, in the home of the suite. */
export async function runExample({ places }: Subject, options: object): Promise<string> {
  const directory = mkdtempSync(join(places.home, 'example-'))
  const file = join(directory, 'example.mts')
  const source = readFileSync(join(root, 'examples/try-a-then-b.ts'), 'utf8')
  writeFileSync(file, source.replaceAll(`'forkpoint'`, `'${api}'`))
  const words = ['--disable-warning=ExperimentalWarning', file]
  const given = JSON.stringify({ ...options, open: { settings: settingsOf(places) } })
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [...words, given])
    return stdout
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function settingsOf({ home, settings }: Subject['places']): object {
  return { home, ...settings }
}
