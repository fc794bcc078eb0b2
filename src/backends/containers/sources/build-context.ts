import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { readIgnored } from '../../../model/files/dockerignore.ts'

/** What a build may copy from: the directory as a tar archive, without what .dockerignore names. */
export async function buildContext(dir: string): Promise<Readable> {
  const names = await filesIn(dir)
  const tar = spawn('tar', ['-C', dir, '--null', '--no-recursion', '-T', '-', '-cf', '-'], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let stderr = ''
  tar.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-4096)
  })
  tar.on('error', (error) => tar.stdout.destroy(error))
  tar.on('close', (code) => {
    if (code !== 0) tar.stdout.destroy(new Error(`tar of ${dir} failed: ${stderr.trim()}`))
  })
  Readable.from(names.map((name) => `${name}\0`))
    .pipe(tar.stdin)
    // It has ended early, and says why itself.
    .on('error', () => {})
  return tar.stdout
}

/** The engine needs these two, whatever is ignored. */
const alwaysSent = new Set(['Dockerfile', '.dockerignore'])

async function filesIn(dir: string): Promise<string[]> {
  const patterns = await readFile(join(dir, '.dockerignore'), 'utf8').catch(() => '')
  const ignored = readIgnored(patterns)
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  return entries
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)))
    .filter((name) => alwaysSent.has(name) || !ignored.ignores(name))
}
