// node install.ts PROJECT: packs this checkout and installs it in a new project, unless that was done.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, whyNoPackage } from './machines.ts'

const [, , project = ''] = process.argv
if (!existsSync(project)) {
  if (whyNoPackage !== null) throw new Error(`the package cannot be made here: ${whyNoPackage}`)
  const draft = `${project}.draft`
  // A killed run may have begun.
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { mode: 0o755 })
  pack(draft)
  install(draft)
  renameSync(draft, project)
}

function pack(destination: string): void {
  // It says what it builds on stderr, which is shown if it fails.
  execFileSync('npm', ['pack', '--silent', '--pack-destination', destination], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

function install(directory: string): void {
  const [tarball = ''] = readdirSync(directory).filter((name) => name.endsWith('.tgz'))
  writeFileSync(join(directory, 'package.json'), '{ "name": "foreign", "type": "module" }')
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
  execFileSync('npm', ['install', ...flags, `./${tarball}`], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
