import { dirname, join } from 'node:path'
import { imageLayers } from '../../images/images.ts'
import { agentCopy, digest, ensureDirectory } from '../../linux/lives/shared-directories.ts'
import { planMask, writeMask } from '../../linux/mask/mask.ts'
import type { Source } from '../../model/environment.ts'
import type { CreateSpec } from '../backend.ts'
import { agentInside } from './bundle.ts'
import type { Gvisor } from './gvisor.ts'
import { imageStore } from './gvisor-images.ts'
import type { Base, Root } from './instance.ts'
import type { LifePlaces } from './places.ts'
import { bindSteps, boundRoot, isRootless, type Step } from './rootless.ts'
import { noSuchSource } from './sources.ts'

/** What a new environment is made of, below what it writes. */
export async function baseOf(
  gvisor: Gvisor,
  { source, image }: Pick<CreateSpec, 'source' | 'image'>,
): Promise<Base> {
  const root =
    image === undefined ? await rootOf(gvisor, source) : await imageRoot(gvisor, image.id)
  return { root, agent: await agentCopy(gvisor.places.shared) }
}

async function imageRoot(gvisor: Gvisor, id: string): Promise<Root> {
  const layers = await imageLayers(imageStore(gvisor), id)
  return { kind: 'image', layers: layers.map(({ path }) => path) }
}

async function rootOf(gvisor: Gvisor, source: Source): Promise<Root> {
  switch (source.kind) {
    case 'host':
    case 'dir':
      return isRootless() ? boundRoot(gvisor.mask) : { kind: 'host', mask: await maskLayer(gvisor) }
    case 'rootfs':
      return { kind: 'rootfs', path: source.path }
    default:
      throw noSuchSource(source)
  }
}

async function maskLayer(gvisor: Gvisor): Promise<string> {
  const plan = planMask(gvisor.mask)
  const path = join(gvisor.places.shared, `mask-${digest(JSON.stringify(plan))}`)
  return await ensureDirectory(path, (dir) => writeMask(gvisor.tools, plan, dir))
}

/** Shell words that mount what the sandbox begins with, in a namespace of its own. */
export function mountRoot({ root, agent, adopted }: Base, life: LifePlaces): string {
  const brought = adopted === undefined ? null : agent
  const steps = root.kind === 'bound' ? boundSteps(root, life) : overlaySteps(root, life, brought)
  return steps
    .map((step) => `${'hides' in step ? hiding(step.hides) : line(step.words)} &&`)
    .join(' ')
}

function boundSteps(root: Extract<Root, { kind: 'bound' }>, life: LifePlaces): Step[] {
  return [...bindSteps(root, life.root), ...agentPoint(life.root)]
}

/**
 * A small layer of our own over the source. `brought` is an agent that no mount of the sandbox shows. runsc would make the mount point of the agent in the source itself.
 * OverlayFS takes no layer that is below another one, so ours is on a file system of its own.
 */
function overlaySteps(
  root: Exclude<Root, { kind: 'bound' }>,
  life: LifePlaces,
  brought: string | null,
): Step[] {
  const layer = join(life.layer, 'top')
  const sources = sourcesOf(root)
  const [source = '/'] = sources
  // An image may have more layers than the options of a mount have room for, so they get short names.
  const lower = ['top', ...sources.keys()].join(':')
  const like = `--reference=${source}`
  const options = isRootless() ? `ro,userxattr,lowerdir=${lower}` : `ro,lowerdir=${lower}`
  return [
    { words: ['mount', '-t', 'tmpfs', 'tmpfs', life.layer] },
    { words: ['cd', life.layer] },
    ...sources.map((path, index) => ({ words: ['ln', '-s', '--', path, String(index)] })),
    { words: root.kind === 'host' ? ['cp', '-a', '--', root.mask, layer] : ['mkdir', '--', layer] },
    { words: ['chmod', like, '--', layer] },
    // In a user namespace, the owner may be nobody.
    ...(isRootless() ? [] : [{ words: ['chown', like, '--', layer] }]),
    ...agentPoint(layer),
    ...(brought === null ? [] : [{ words: ['cp', '-p', '--', brought, join(layer, agentInside)] }]),
    ...hiddenIn(root).map((name) => ({ words: ['mknod', join(layer, name), 'c', '0', '0'] })),
    { words: ['mount', '-t', 'overlay', 'overlay', '-o', options, life.root] },
    { words: ['cd', '/'] },
  ]
}

/** Names in the root itself, which OverlayFS hides by such a device. */
function hiddenIn(root: Root): readonly string[] {
  return root.kind === 'rootfs' ? (root.hidden ?? []) : []
}

function agentPoint(root: string): Step[] {
  return [
    { words: ['mkdir', '-p', '--', join(root, dirname(agentInside))] },
    { words: ['touch', '--', join(root, agentInside)] },
  ]
}

/** What our own layer is laid over, topmost first. */
function sourcesOf(root: Exclude<Root, { kind: 'bound' }>): readonly string[] {
  switch (root.kind) {
    case 'host':
      return ['/']
    case 'rootfs':
      return [root.path]
    case 'image':
      return root.layers
  }
}

function line(words: readonly string[]): string {
  return words.map(quoted).join(' ')
}

/** A directory becomes an empty one, and anything else an empty file. */
function hiding(path: string): string {
  const at = quoted(path)
  const empty = `mount -t tmpfs -o ro,mode=000 tmpfs ${at}`
  return `{ if [ -d ${at} ]; then ${empty}; elif [ -e ${at} ]; then mount --bind /dev/null ${at}; fi; }`
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
