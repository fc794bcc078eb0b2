import * as z from 'zod/mini'
import { BackendError, NotFoundError } from '../model/errors.ts'
import { quote } from '../model/text/quote.ts'
import { hexOf } from './cache.ts'
import { configSchema, type ImageConfig } from './facts.ts'
import { type EngineName, ownPrefix } from './held.ts'
import type { ImageStore } from './image-store.ts'
import { usablePrograms } from './programs.ts'

/** A container that an engine on this machine has. */
export interface FoundContainer {
  readonly engine: EngineName
  readonly id: string
  readonly name: string
  /** digest of the configuration of its image */
  readonly image: string
  readonly config: ImageConfig
  readonly status: string
  /** its process 1, as the host sees it; 0 if it does not run */
  readonly pid: number
}

const inspectedSchema = z.array(
  z.object({
    Id: z.string(),
    Name: z.string(),
    Image: z.string(),
    State: z.object({ Status: z.string(), Pid: z.number() }),
    Config: z.nullish(z.looseObject({})),
  }),
)

/** By name or id. */
export async function findContainer(store: ImageStore, wanted: string): Promise<FoundContainer> {
  const engines = await usablePrograms(
    store,
    ['podman', 'docker'] as const,
    'reading the files of a container',
  )
  for (const engine of engines) {
    const known = await store.tools.run(engine, ['container', 'inspect', '--', wanted])
    if (known.exitCode === 0) return described(engine, known.stdout)
  }
  throw new NotFoundError(`${engines.join(' and ')} know no container ${quote(wanted)}`, {
    remedy: `list them with \`${engines[0] ?? 'podman'} ps --all\``,
  })
}

function described(engine: EngineName, text: string): FoundContainer {
  try {
    const [found] = inspectedSchema.parse(JSON.parse(text))
    if (found === undefined) throw new TypeError('it is empty')
    const { Id: id, Name, Image, State, Config } = found
    const name = Name.replace(/^\//, '')
    return {
      ...{ engine, id, name, image: `sha256:${hexOf(Image) ?? ''}`, config: configOf(Config) },
      ...{ status: State.Status, pid: State.Pid },
    }
  } catch (cause) {
    throw new BackendError(`\`${engine} container inspect\` printed something unexpected`, {
      remedy: 'choose another program with the setting images.tool',
      cause,
    })
  }
}

/** Podman writes the entry point of a container as one word. */
function configOf(given: object | null | undefined): ImageConfig {
  const entrypoint = given && 'Entrypoint' in given ? given.Entrypoint : null
  const words = typeof entrypoint === 'string' ? entrypoint.split(' ').filter(Boolean) : entrypoint
  return configSchema.parse({ ...given, Entrypoint: words })
}

/**
 * Makes an image of its files, and returns the digest of its configuration. The engine pauses the container
 * meanwhile, unless it stands still already.
 */
export async function commitContainer(
  store: ImageStore,
  { engine, id, name }: Pick<FoundContainer, 'engine' | 'id' | 'name'>,
  state: 'running' | 'still',
): Promise<string> {
  const doing = `reading the files of container ${name}`
  const options = ['--author', ownPrefix(store), `--pause=${state === 'running'}`]
  const stdout = await store.tools.mustRun(doing, engine, ['commit', ...options, id])
  const hex = hexOf(stdout.trim().split('\n').at(-1) ?? '')
  if (hex !== null) return hex
  throw new BackendError(`${doing} failed: ${engine} printed no id`, { remedy: 'try again' })
}
