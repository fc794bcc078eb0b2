import { createHash, randomBytes } from 'node:crypto'
import { type EnvironmentId, isEnvironmentId, type SnapshotId } from '../../model/ids.ts'
import type { EngineKind } from './engine/engine-kind.ts'

/** How the objects that this home made in an engine are found again. */
export interface Names {
  /** the label that everything carries */
  readonly home: string
  /** the repository of its images; `localhost` is the name of no registry */
  readonly repository: string
  labels(id: EnvironmentId, life: string): Readonly<Record<string, string>>
  container(id: EnvironmentId, life: string): string
  /** what the name of a container says: a restored one has the labels of another; null: not ours */
  parse(container: string): { readonly id: EnvironmentId; readonly life: string } | null
  snapshot(id: SnapshotId): string
  /** the tag of a deleted snapshot that containers still use */
  trash(id: SnapshotId): string
  build(imageId: string): string
  /** the file of a checkpoint in a directory that others use, too */
  archive(id: SnapshotId): string
  base(imageId: string): string
}

export const homeLabel = 'forkpoint.home'
const environmentLabel = 'forkpoint.environment'
const lifeLabel = 'forkpoint.life'

/** the tag of an image that environments began from, so that their checkpoints can be restored */
export const basePrefix = 'base-'
export const trashPrefix = 'trash-'
export const buildPrefix = 'build-'

export function namesOf({ name }: EngineKind, home: string): Names {
  const key = createHash('sha256').update(`${name} ${home}`).digest('hex').slice(0, 12)
  const start = `forkpoint-${key}-`
  return {
    home: `${homeLabel}=${key}`,
    repository: `localhost/forkpoint-${key}`,
    labels: (id, life) => ({ [homeLabel]: key, [environmentLabel]: id, [lifeLabel]: life }),
    container: (id, life) => `${start}${id}-${life}`,
    parse: (container) => {
      const name = container.replace(/^\//, '')
      const [id, life] = name.startsWith(start) ? name.slice(start.length).split('-') : []
      return isEnvironmentId(id) && life !== undefined ? { id, life } : null
    },
    snapshot: (id) => id,
    trash: (id) => `${trashPrefix}${id}`,
    archive: (id) => `${start}${id}.tar`,
    build: (imageId) => `${buildPrefix}${shortId(imageId)}`,
    base: (imageId) => `${basePrefix}${shortId(imageId)}`,
  }
}

export function newLife(): string {
  return randomBytes(4).toString('hex')
}

function shortId(imageId: string): string {
  return imageId.replace(/^sha256:/, '').slice(0, 12)
}
