// Writes the types of the public API to dist/types: the declarations that its entry points reach, and
// no others. Builds in another directory, so that nobody ever sees half of them.
//
//   node scripts/build-types.js [TSC]     the compiler to use if the checkout has none of its own
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const final = join(root, 'dist/types')
const staged = join(root, `dist.tmp-types-${process.pid}`)
const all = join(staged, 'all')
const reached = join(staged, 'types')

try {
  mkdirSync(staged)
  writeFileSync(join(staged, 'tsconfig.json'), JSON.stringify(project()))
  execFileSync(process.execPath, [compiler(), '-p', staged], { stdio: 'inherit' })
  const kept = new Set()
  for (const path of entryPoints()) keep(join(all, `${path}.d.ts`), kept)
  for (const path of entryPoints()) addReference(join(reached, `${path}.d.ts`))
  // Newer than every source that was read: see ensure_types.
  writeFileSync(join(reached, '.fresh'), '')
  rmSync(final, { recursive: true, force: true })
  mkdirSync(dirname(final), { recursive: true })
  renameSync(reached, final)
} catch (error) {
  // The compiler has already printed what is wrong with the sources.
  if (error.status === undefined) throw error
  process.exitCode = 1
} finally {
  rmSync(staged, { recursive: true, force: true })
}

function compiler() {
  const own = join(root, 'node_modules/typescript/bin/tsc')
  return existsSync(own) ? own : (process.argv[2] ?? own)
}

/** Paths below src, without their extension. An integration needs its framework, which may not be here. */
function entryPoints() {
  const { exports, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const isHere = (name) => existsSync(join(root, 'node_modules', name))
  const hasFrameworks = Object.keys(peerDependencies).every(isHere)
  return Object.values(exports)
    .map(({ types }) => types.replace('./dist/types/', '').replace('.d.ts', ''))
    .filter((path) => hasFrameworks || !path.startsWith('integrations/'))
}

function project() {
  return {
    extends: join(root, 'tsconfig.types.json'),
    compilerOptions: {
      outDir: all,
      rootDir: join(root, 'src'),
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: entryPoints().map((path) => join(root, 'src', `${path}.ts`)),
  }
}

/** A project that lists no types in its settings has none of Node, but these declarations need them. */
function addReference(file) {
  if (file.includes('/client/')) return
  writeFileSync(file, `/// <reference types="node" />\n${readFileSync(file, 'utf8')}`)
}

/** Copies a declaration, and whatever it imports. */
function keep(file, kept) {
  if (kept.has(file)) return
  kept.add(file)
  cpSync(file, join(reached, file.slice(all.length)))
  const imports = readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)\.ts'/g)
  for (const [, path] of imports) keep(join(dirname(file), `${path}.d.ts`), kept)
}
