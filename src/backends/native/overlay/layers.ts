import { createHash } from 'node:crypto'
import { chmod, copyFile, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { nativeProgram } from '../../../linux/native-program.ts'
import { pathExists } from '../../../linux/path-exists.ts'
import { runCell } from '../../../linux/run-cell.ts'
import type { NetMode, Source } from '../../../model/environment.ts'
import type { Layer } from '../cell/cell.ts'
import type { Places } from '../places.ts'
import { noSuchSource } from '../sources.ts'
import { planMask, writeMask } from './mask.ts'
import { resolverOfHost } from './resolver.ts'

/** Mount points and directories that every environment has, whatever its source lacks. */
const skeleton: readonly [path: string, mode: number][] = [
  ['dev', 0o755],
  ['proc', 0o555],
  ['sys', 0o555],
  ['run', 0o755],
  ['run/forkpoint', 0o755],
  ['run/lock', 0o1777],
  ['run/shm', 0o1777],
  ['.forkpoint', 0o755],
  ['.forkpoint/pages', 0o700],
]

/** The layers under a new environment's upper, topmost first. */
export async function baseLayers(
  places: Places,
  source: Source,
  { mask, net }: { mask: readonly string[]; net: NetMode },
): Promise<Layer[]> {
  const added = [await agentLayer(places), ...(net === 'nat' ? await resolverLayers(places) : [])]
  switch (source.kind) {
    case 'host':
    case 'dir':
      return [...added, await maskLayer(places, mask), { path: '/', ids: 'host' }]
    case 'rootfs':
      return [...added, { path: source.path, ids: 'host' }]
    default:
      throw noSuchSource(source)
  }
}

/** The agent and the mount points, named for what is in it. */
async function agentLayer(places: Places): Promise<Layer> {
  const program = nativeProgram('agent')
  const { size, mtimeMs } = await stat(program)
  const content = `${program} ${size} ${mtimeMs} ${JSON.stringify(skeleton)}`
  return ensureLayer(places, `agent-${digest(content)}`, async (dir) => {
    for (const [path, mode] of skeleton) {
      await mkdir(join(dir, path))
      await chmod(join(dir, path), mode)
    }
    await copyFile(program, join(dir, '.forkpoint/agent'))
    await chmod(join(dir, '.forkpoint/agent'), 0o755)
  })
}

/** None if the host itself knows no server that could be reached from inside. */
async function resolverLayers(places: Places): Promise<Layer[]> {
  const config = await resolverOfHost()
  if (config === null) return []
  const layer = await ensureLayer(places, `resolver-${digest(config)}`, async (dir) => {
    await mkdir(join(dir, 'etc'))
    await chmod(join(dir, 'etc'), 0o755)
    await writeFile(join(dir, 'etc/resolv.conf'), config)
    await chmod(join(dir, 'etc/resolv.conf'), 0o644)
  })
  return [layer]
}

async function maskLayer(places: Places, patterns: readonly string[]): Promise<Layer> {
  const plan = planMask(patterns)
  return ensureLayer(places, `mask-${digest(JSON.stringify(plan))}`, (dir) => writeMask(plan, dir))
}

/** The template bound in at /dev. */
export async function ensureDevices(places: Places): Promise<string> {
  const { path } = await ensureLayer(places, 'devices', async (dir) => {
    await runCell('making the device template', ['devices', dir])
  })
  return path
}

/** Made under a temporary name and renamed: a layer is complete or not there. */
async function ensureLayer(
  places: Places,
  name: string,
  fill: (dir: string) => Promise<void>,
): Promise<Layer> {
  const path = join(places.layers, name)
  if (await pathExists(path)) return { path, ids: 'host' }
  const draft = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}.new`
  try {
    await mkdir(draft, { recursive: true, mode: 0o755 })
    await chmod(draft, 0o755)
    await fill(draft)
    await rename(draft, path)
  } catch (error) {
    // Someone else may have made the same layer meanwhile.
    if (!(await pathExists(path))) throw error
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return { path, ids: 'host' }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
