import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { namesIn } from '../../../linux/files/names-in.ts'
import { identify, isAlive, type ProcessIdentity } from '../../../linux/process-identity.ts'
import {
  ConflictError,
  InvalidInputError,
  NotFoundError,
  PrerequisiteError,
  UnsupportedError,
} from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import type { AttachTarget } from '../../facets.ts'
import type { Gvisor } from '../gvisor.ts'
import type { Adopted, Root } from '../instance.ts'
import { isRootless } from '../rootless.ts'

/** What runsc notes about a container. */
const noted = z.object({
  id: z.string(),
  spec: z.looseObject({
    root: z.looseObject({ path: z.string() }),
    process: z.looseObject({ cwd: z.string(), terminal: z.nullish(z.boolean()) }),
    mounts: z.nullish(
      z.array(
        z.looseObject({
          destination: z.string(),
          type: z.nullish(z.string()),
          options: z.nullish(z.array(z.string())),
        }),
      ),
    ),
  }),
  sandbox: z.object({
    id: z.string(),
    pid: z.number(),
    metricMetadata: z.nullish(z.record(z.string(), z.string())),
  }),
})

type Noted = z.infer<typeof noted>

/** A container of runsc that Forkpoint did not start. */
export interface Foreign {
  /** the directory that its runsc keeps its state in */
  readonly directory: string
  readonly id: string
  readonly workdir: string
  readonly sandbox: ProcessIdentity
  readonly root: Root
  readonly adopted: Adopted
}

const shape = /^[\w+.-]{1,1024}$/
const filestore = /^\.gvisor\.filestore\./

export function findTarget(gvisor: Gvisor, target: string): AttachTarget {
  const { directory, id, workdir, sandbox } = findForeign(gvisor, target)
  const { bootId, pid, startTicks } = sandbox
  return { key: [directory, id, bootId, pid, startTicks].join(' '), name: id, workdir }
}

/** Finds a container by its id, and refuses one that cannot be copied. */
export function findForeign({ foreignRoots }: Gvisor, id: string): Foreign {
  if (isRootless()) {
    throw new PrerequisiteError('only root can adopt a container of runsc', {
      remedy: 'run it with sudo',
    })
  }
  if (!shape.test(id)) {
    throw new InvalidInputError(`not the id of a container: ${quote(id)}`, {
      remedy: 'give an id that `runsc list` shows',
    })
  }
  for (const directory of foreignRoots) {
    const found = namesIn(directory).find((name) => isStateOf(name, id))
    if (found !== undefined) return foreignIn(directory, join(directory, found))
  }
  throw new NotFoundError(`runsc has no container ${quote(id)} in ${foreignRoots.join(', ')}`, {
    remedy:
      'check the id with `runsc --root DIRECTORY list`, and set `gvisor.root` to that directory',
  })
}

function isStateOf(name: string, id: string): boolean {
  return name.startsWith(`${id}_sandbox:`) && name.endsWith('.state')
}

function foreignIn(directory: string, file: string): Foreign {
  const state = noted.parse(JSON.parse(readFileSync(file, 'utf8')))
  const { id, spec } = state
  const sandbox = identify(state.sandbox.pid)
  if (sandbox === undefined || !isAlive(sandbox)) {
    throw new ConflictError(`the container ${quote(id)} does not run`, { remedy: 'start it first' })
  }
  const refusal = refusalOf(state)
  if (refusal !== null) {
    const [why, remedy] = refusal
    throw new UnsupportedError('attach', `the container ${quote(id)} ${why}`, { remedy })
  }
  const { path } = spec.root
  const overlay = state.sandbox.metricMetadata?.overlay
  return {
    ...{ directory, id, sandbox, workdir: spec.process.cwd },
    // The file that runsc keeps its writes in lies in its root, and is hidden there.
    root: {
      kind: 'rootfs',
      path,
      hidden: readdirSync(path).filter((name) => filestore.test(name)),
    },
    adopted: {
      spec: JSON.stringify(spec),
      writes: overlay === 'root:memory' ? 'memory' : 'file',
    },
  }
}

/** Why it cannot be copied, and what to do. */
function refusalOf({ id, spec, sandbox }: Noted): readonly [why: string, remedy: string] | null {
  const { network = 'none', overlay = 'root:self' } = sandbox.metricMetadata ?? {}
  const written = (spec.mounts ?? []).find(
    ({ type, options }) => type === 'bind' && options?.includes('ro') !== true,
  )
  if (sandbox.id !== id) {
    return ['shares its sandbox with others', 'attach to one that has a sandbox of its own']
  }
  if (network !== 'none') {
    return ['has a network, which runsc cannot checkpoint', 'start it with `--network=none`']
  }
  if (!overlay.startsWith('root:')) {
    return [
      `writes to the files of the host (overlay2 is ${overlay})`,
      'start it with `--overlay2=root:self`, the default of runsc',
    ]
  }
  if (spec.process.terminal === true) {
    return ['has a terminal, whose other end is another program', 'start it without a terminal']
  }
  if (written !== undefined) {
    return [
      `has ${quote(written.destination)} of the host mounted, which copies would write to`,
      'mount it read-only, or start it without that mount',
    ]
  }
  return null
}
