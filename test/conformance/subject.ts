import { type CreateOptions, ForkpointHandle } from '../../src/api/handles/forkpoint.ts'
import type { Backend, Ref } from '../../src/backends/backend.ts'
import {
  dockerMaker,
  dockerProcessesMaker,
  podmanCriuMaker,
  podmanMaker,
} from '../../src/backends/containers/containers-backend.ts'
import { criuMaker } from '../../src/backends/criu/criu-backend.ts'
import { gvisorMaker } from '../../src/backends/gvisor/gvisor-backend.ts'
import { productRegistry, type Registry } from '../../src/backends/registry.ts'
import { hostFacts } from '../../src/config/host-facts.ts'
import type { Flags } from '../../src/config/layers.ts'
import { loadSettings } from '../../src/config/load-settings.ts'
import { capabilitiesOf } from '../../src/engine/capabilities.ts'
import { engineControl } from '../../src/engine/control/engine-control.ts'
import { openEngine } from '../../src/engine/engine.ts'
import { appliesIn } from '../../src/engine/recovery/applies.ts'
import type { Environment, Snapshot } from '../../src/index.ts'
import type { Capabilities } from '../../src/model/capabilities.ts'
import { directoryMaker } from './directory-backend.ts'

/** The backends that the suite knows, each as the default of its own registry. */
export const registries = {
  native: productRegistry,
  gvisor: { makers: { gvisor: gvisorMaker }, default: 'gvisor' },
  criu: { makers: { criu: criuMaker }, default: 'criu' },
  directory: { makers: { directory: directoryMaker }, default: 'directory' },
  docker: { makers: { docker: dockerMaker }, default: 'docker' },
  'docker-processes': {
    makers: { 'docker-processes': dockerProcessesMaker },
    default: 'docker-processes',
  },
  podman: { makers: { podman: podmanMaker }, default: 'podman' },
  'podman-criu': { makers: { 'podman-criu': podmanCriuMaker }, default: 'podman-criu' },
} as const satisfies Record<string, Registry>

export type BackendUnderTest = keyof typeof registries

export interface Places {
  /** of the store */
  readonly home: string
  /** a directory of the host that environments start from; it has a file given.txt */
  readonly workspace: string
  /** a small root file system */
  readonly rootfs: string
  /** an image, for backends that have them */
  readonly image: string
  /** a directory with a Dockerfile, for backends that build */
  readonly dockerfile: string
  /** a directory with an image in the layout of OCI, for backends that unpack one */
  readonly oci: string
  /** the same as `docker save` writes it */
  readonly archive: string
  /** a container that somebody else made, for backends that copy its files */
  readonly container: string
  /** what environments start from by default; it has a file given.txt in its working directory */
  readonly from: NonNullable<CreateOptions['from']>
  readonly settings?: Flags
}

/** A home with one backend, and what the suite does with it. */
export interface Subject extends AsyncDisposable, Places {
  readonly backend: BackendUnderTest
  /** what another process opens the same with */
  readonly places: Places
  readonly forkpoint: ForkpointHandle
  readonly capabilities: Capabilities
  create(options?: CreateOptions): Promise<Environment>
  /** ends its processes without a record of it, as a reboot does */
  crash(env: Environment): Promise<void>
  /** its life, as the backend knows it */
  ref(env: Environment): Ref
  snapshots(): Promise<Snapshot[]>
  /** removes everything that the store knows */
  removeAll(): Promise<void>
  /** what is left on the machine */
  remnants(): ReturnType<Backend['remnants']>
}

/** The one place that opens a backend for the suite. */
export async function openSubject(backend: BackendUnderTest, places: Places): Promise<Subject> {
  const { settings } = loadSettings({
    flags: { home: places.home, ...places.settings },
    env: process.env,
    facts: hostFacts(),
  })
  const engine = await openEngine(settings, { backends: registries[backend] })
  const fp = new ForkpointHandle(engineControl(engine), { stateDir: appliesIn(places.home) })
  return {
    backend,
    places,
    capabilities: capabilitiesOf(engine.backend(backend)),
    forkpoint: fp,
    ...places,
    create: (options) => fp.create({ from: places.from, ...options }),
    crash: async ({ id }) => {
      const { instance } = engine.store.environments.resolve(id)
      if (instance !== null) await engine.backend(backend).end({ id, instance })
    },
    ref: ({ id }) => {
      const { instance } = engine.store.environments.resolve(id)
      if (instance === null) throw new Error(`${id} has no processes`)
      return { id, instance }
    },
    snapshots: () => fp.snapshots(),
    removeAll: async () => {
      for (const env of await fp.list()) await env.remove()
      await fp.prune()
      await fp.pruneImages()
    },
    remnants: () => engine.backend(backend).remnants(),
    [Symbol.asyncDispose]: () => fp.close(),
  }
}
