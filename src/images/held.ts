import * as z from 'zod/mini'
import { BackendError } from '../model/errors.ts'
import type { ImageStore } from './image-store.ts'
import { hasProgram } from './programs.ts'

/** The engines whose storage can hold layers. */
export type EngineName = 'podman' | 'docker'

/**
 * An image that an engine keeps for us. A tag keeps it from `image prune`, and a container that never runs
 * from `image prune --all` and from `rmi` without force. Both have the home's key in their name.
 */
export interface Held {
  readonly engine: EngineName
  readonly tag: string
  readonly container: string
  /** the program that made the container, and removes it */
  readonly by: 'buildah' | EngineName
}

export const heldSchema: z.ZodMiniType<Held> = z.object({
  engine: z.enum(['podman', 'docker']),
  tag: z.string(),
  container: z.string(),
  by: z.enum(['buildah', 'podman', 'docker']),
})

/** What the names of everything begin with that this home has made in engines. */
export function ownPrefix({ places }: Pick<ImageStore, 'places'>): string {
  return `forkpoint-${places.key}`
}

/** What an image will be kept by. */
export async function planHold(store: ImageStore, engine: EngineName, hex: string): Promise<Held> {
  const prefix = ownPrefix(store)
  const short = hex.slice(0, 16)
  // Podman's own `container prune` leaves containers of buildah alone.
  const by = engine === 'podman' && (await hasProgram('buildah')) ? 'buildah' : engine
  return { engine, tag: `localhost/${prefix}:${short}`, container: `${prefix}-${short}`, by }
}

/** Safe to repeat: what exists already stays. */
export async function hold(store: ImageStore, held: Held, hex: string): Promise<void> {
  const { tools } = store
  const { engine, tag, container, by } = held
  const doing = `keeping image ${hex.slice(0, 12)} in ${engine}`
  await tools.mustRun(doing, engine, ['tag', hex, tag])
  const args = [...makeContainer(by, ownPrefix(store)), '--name', container, hex, ...idle(by)]
  const made = await tools.run(by, args)
  if (made.exitCode === 0 || /already (in use|exists)/.test(made.stderr)) return
  throw new BackendError(`${doing} failed: ${made.stderr.trim().split('\n').at(-1) ?? ''}`, {
    lastWords: made.stderr,
    remedy: `check that \`${engine} ps --all\` works, or choose another program with the setting images.tool`,
  })
}

function makeContainer(by: Held['by'], prefix: string): string[] {
  if (by === 'buildah') return ['from', '--pull-never']
  return ['create', '--label', `forkpoint.home=${prefix}`]
}

/** An image may have no command of its own, and `create` needs one, although it never runs. */
function idle(by: Held['by']): string[] {
  return by === 'buildah' ? [] : ['/never-runs']
}

/** Lets go of an image. The engine removes it unless it has other names. */
export async function letGo({ tools, log }: ImageStore, held: Held): Promise<void> {
  const { engine, tag, container, by } = held
  // Whoever removed them by hand has done our work.
  const removed = await tools.run(by, ['rm', container])
  const untagged = await tools.run(engine, ['rmi', tag])
  for (const { exitCode, stderr } of [removed, untagged]) {
    if (exitCode !== 0) log.info({ held, stderr }, 'an engine keeps an image that nobody needs')
  }
}
