import * as z from 'zod/mini'
import type { Names } from '../names.ts'
import { type Client, path } from './client.ts'
import { ifFound, unlessRefused } from './failures.ts'

const config = z.object({
  User: z.nullish(z.string()),
  Env: z.nullish(z.array(z.string())),
  WorkingDir: z.nullish(z.string()),
  Volumes: z.nullish(z.record(z.string(), z.unknown())),
})

const inspected = z.object({ Id: z.string(), Config: z.nullish(config) })
const listed = z.array(z.object({ Id: z.string(), RepoTags: z.nullish(z.array(z.string())) }))
const history = z.array(z.object({ Size: z.number() }))
const committed = z.object({ Id: z.string() })

/** An image, and what it says about the containers that run it. */
export interface Image {
  readonly id: string
  /** USER[:GROUP]; empty: root */
  readonly user: string
  readonly env: readonly string[]
  readonly workdir: string
  /** directories that engines keep outside the container, so that no snapshot has them */
  readonly volumes: readonly string[]
}

/** Null if the engine does not have it. */
export async function inspectImage(client: Client, ref: string): Promise<Image | null> {
  const found = await ifFound(() =>
    client.json(inspected, { method: 'GET', path: path`/images/${ref}/json` }),
  )
  if (found === null) return null
  const { User, Env, WorkingDir, Volumes } = found.Config ?? {}
  return {
    id: found.Id,
    user: User ?? '',
    env: Env ?? [],
    workdir: WorkingDir || '/',
    volumes: Object.keys(Volumes ?? {}),
  }
}

/** Commits what a container has written as an image; unless told, the engine pauses it meanwhile. */
export async function commitContainer(
  client: Client,
  container: string,
  { repository, tag }: { readonly repository: string; readonly tag: string },
  { pause }: { readonly pause: 'true' | 'false' } = { pause: 'true' },
): Promise<string> {
  const { Id } = await client.json(committed, {
    method: 'POST',
    path: '/commit',
    query: { container, repo: repository, tag, pause },
    body: {},
  })
  return Id
}

/** The bytes of the last layer. */
export async function lastLayerBytes(client: Client, ref: string): Promise<number> {
  const [last] = await client.json(history, {
    method: 'GET',
    path: path`/images/${ref}/history`,
  })
  return last?.Size ?? 0
}

export async function tagImage(
  client: Client,
  ref: string,
  { repository }: Names,
  tag: string,
): Promise<void> {
  const query = { repo: repository, tag }
  await client.text({ method: 'POST', path: path`/images/${ref}/tag`, query })
}

/**
 * Removes a tag, and the image if it has no other. Never by force: one that a container uses stays, and
 * Podman would remove the container.
 */
export async function removeImage(client: Client, ref: string): Promise<void> {
  // Podman answers 500 for an image that is in use.
  await unlessRefused([404, 409, 500], () =>
    client.text({ method: 'DELETE', path: path`/images/${ref}` }),
  )
}

/** The tags in this home's repository that begin with `prefix`. */
export async function tagsWith(client: Client, names: Names, prefix: string): Promise<string[]> {
  const filters = JSON.stringify({ reference: [`${names.repository}:${prefix}*`] })
  const images = await client.json(listed, {
    method: 'GET',
    path: '/images/json',
    query: { filters },
  })
  const start = `${names.repository}:${prefix}`
  return images.flatMap(({ RepoTags }) => RepoTags ?? []).filter((tag) => tag.startsWith(start))
}
