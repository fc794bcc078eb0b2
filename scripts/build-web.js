// Builds the dashboard of web/ into dist/web, with a packed copy of each file. Builds in another directory and
// moves it into place, so that nobody ever sees half of it.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const web = join(root, 'web')
const final = join(root, 'dist/web')
const staged = join(root, `dist.tmp-web-${process.pid}`)

/** Packed once here, instead of for each request. */
const packed = /\.(html|js|css|svg)$/

try {
  const vite = join(web, 'node_modules/vite/bin/vite.js')
  const words = ['build', web, '--outDir', staged, '--emptyOutDir', '--logLevel', 'warn']
  execFileSync(process.execPath, [vite, ...words, '--config', join(web, 'vite.config.ts')], {
    stdio: 'inherit',
    cwd: web,
    // Whatever the caller's is: with another one, React would be that for development.
    env: { ...process.env, NODE_ENV: 'production' },
  })
  for (const entry of readdirSync(staged, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !packed.test(entry.name)) continue
    const path = join(entry.parentPath, entry.name)
    writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }))
  }
  mkdirSync(dirname(final), { recursive: true })
  rmSync(final, { recursive: true, force: true })
  renameSync(staged, final)
} catch (error) {
  // Vite has already printed what is wrong with the sources.
  if (error.status === undefined) throw error
  process.exitCode = 1
} finally {
  rmSync(staged, { recursive: true, force: true })
}
