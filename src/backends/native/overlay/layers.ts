import { createHash } from 'node:crypto'
import { chmod, copyFile, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathExists } from '../../../linux/files/path-exists.ts'
import { planMask, writeMask } from '../../../linux/mask/mask.ts'
import { nativeProgram } from '../../../linux/native-program.ts'
import type { Tools } from '../../../linux/tools.ts'
import type { Source } from '../../../model/environment.ts'
import type { Layer } from '../cell/cell.ts'
import type { Places } from '../places.ts'
import { noSuchSource } from '../sources.ts'
import { resolverOfHost } from './resolver.ts'

/** Mount points and directories that every environment has, even if its source lacks them. */
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

interface Base {
  readonly mask: readonly string[]
  /** layers of the image, if that is the source; topmost first */
  readonly image: readonly Layer[]
}

/** The layers under a new environment's upper, topmost first. */
export async function baseLayers(
  tools: Tools,
  places: Places,
  source: Source,
  { mask, image }: Base,
): Promise<Layer[]> {
  const added = [await agentLayer(places), ...(await resolverLayers(places))]
  switch (source.kind) {
    case 'host':
    case 'dir':
      return [...added, await maskLayer(tools, places, mask), { path: '/', ids: 'host' }]
    case 'rootfs':
      return [...added, { path: source.path, ids: 'host' }]
    case 'snapshot':
    case 'attached':
      throw noSuchSource()
    default:
      return [...added, ...image, await etcLayer(places)]
  }
}

/** The agent and the mount points. The name is a digest of the contents. */
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

/** An image may consist of one program, and an environment writes its hostname into /etc. */
function etcLayer(places: Places): Promise<Layer> {
  return ensureLayer(places, 'etc', async (dir) => {
    await mkdir(join(dir, 'etc'))
    await chmod(join(dir, 'etc'), 0o755)
  })
}

/**
 * Environments without a network have it too, because they may get one. None if the host has no name server
 * that environments could reach.
 */
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

async function maskLayer(
  tools: Tools,
  places: Places,
  patterns: readonly string[],
): Promise<Layer> {
  const plan = planMask(patterns)
  return ensureLayer(places, `mask-${digest(JSON.stringify(plan))}`, (dir) =>
    writeMask(tools, plan, dir),
  )
}

/** The template of /dev inside. */
export async function ensureDevices(tools: Tools, places: Places): Promise<string> {
  const { path } = await ensureLayer(places, 'devices', async (dir) => {
    await tools.runCell('making the device template', ['devices', dir])
  })
  return path
}

/** Makes the layer under a temporary name and renames it, so that it is complete or missing. */
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
    // Another process may have made the same layer in the meantime.
    if (!(await pathExists(path))) throw error
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return { path, ids: 'host' }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
