import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from '../run-tool.ts'

/** Where the files come from: directories that every host has. */
const sources = ['/usr/include', '/usr/share', '/usr/lib']
const listBytes = 64 * 2 ** 20

/** What is written inside, prepared on the host, where environments see it under the same path. */
export interface WritingStage {
  /** a tar archive of host files */
  readonly archive: string
  /** a project whose dependencies are the same files, in packages that lie next to it */
  readonly project: string
}

export async function makeWritingStage(
  dir: string,
  { files, packages }: { readonly files: number; readonly packages: number },
): Promise<WritingStage> {
  const names = await smallFiles(files)
  const archive = join(dir, 'files.tar')
  await archiveFiles(archive, names, [])
  const project = join(dir, 'project')
  await makeProject(project, inParts(names, packages))
  return { archive, project }
}

/** The first that the host has, relative to its root. */
async function smallFiles(count: number): Promise<string[]> {
  const wanted = ['-xdev', '-type', 'f', '-size', '+0', '-size', '-64k']
  const { stdout } = await runTool('find', [...sources, ...wanted], { maxBuffer: listBytes })
  const found = stdout.split('\n').filter(Boolean).slice(0, count)
  return found.map((path) => path.slice(1))
}

async function archiveFiles(
  archive: string,
  names: readonly string[],
  options: readonly string[],
): Promise<void> {
  const list = `${archive}.list`
  writeFileSync(list, names.join('\n'))
  await runTool('tar', ['-cf', archive, '-C', '/', ...options, '--files-from', list])
}

/** Packages as a registry has them, with a lock file that finds them without one. */
async function makeProject(project: string, parts: readonly (readonly string[])[]): Promise<void> {
  mkdirSync(join(project, 'packages'), { recursive: true })
  const locked: Record<string, object> = {}
  const dependencies: Record<string, string> = {}
  for (const [i, names] of parts.entries()) {
    const name = `part-${i}`
    const path = `packages/${name}.tgz`
    await makePackage(join(project, path), name, names)
    const hash = createHash('sha512').update(readFileSync(join(project, path)))
    const integrity = `sha512-${hash.digest('base64')}`
    locked[`node_modules/${name}`] = { version, resolved: `file:${path}`, integrity }
    dependencies[name] = `file:${path}`
  }
  const about = { name: 'project', version, dependencies }
  writeJson(join(project, 'package.json'), about)
  const packages = { '': about, ...locked }
  const lock = { name: 'project', version, lockfileVersion: 3, requires: true, packages }
  writeJson(join(project, 'package-lock.json'), lock)
}

const version = '1.0.0'

async function makePackage(path: string, name: string, names: readonly string[]): Promise<void> {
  const manifest = `${path}.json`
  writeJson(manifest, { name, version })
  // Everything lies below `package/`, and the manifest at its top.
  const named = ['--transform', `s,^${manifest.slice(1)}$,package.json,`]
  const below = ['--transform', 's,^,package/,']
  await archiveFiles(path, [manifest.slice(1), ...names], ['-z', ...named, ...below])
}

function inParts(names: readonly string[], count: number): string[][] {
  const size = Math.ceil(names.length / count)
  return Array.from({ length: count }, (_, i) => names.slice(i * size, (i + 1) * size))
}

function writeJson(path: string, value: object): void {
  writeFileSync(path, JSON.stringify(value, null, 2))
}
