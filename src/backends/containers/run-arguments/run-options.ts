import * as z from 'zod/mini'

const words = z.array(z.string())

/** A port inside, and where the engine shows it on the host. */
const port = z.object({
  /** such as `80/tcp` */
  inside: z.string(),
  hostIp: z.string(),
  /** empty: the engine chooses one */
  hostPort: z.string(),
})

/** A mount as the engine's API takes it. */
const mount = z.object({
  Type: z.enum(['bind', 'volume', 'tmpfs']),
  Source: z.exactOptional(z.string()),
  Target: z.string(),
  ReadOnly: z.exactOptional(z.boolean()),
})

/** What every life of an environment is started with, beyond what other backends know. */
export const runOptionsSchema = z.object({
  /** USER[:GROUP]; absent: the image's */
  user: z.exactOptional(z.string()),
  /** absent: as the environment's `net` says */
  network: z.exactOptional(z.string()),
  ports: z.array(port),
  /** in the words of `--volume` */
  binds: words,
  mounts: z.array(mount),
  /** options by directory */
  tmpfs: z.record(z.string(), z.string()),
  capAdd: words,
  capDrop: words,
  extraHosts: words,
  dns: words,
  shmBytes: z.exactOptional(z.number()),
  privileged: z.boolean(),
})

export type RunOptions = z.infer<typeof runOptionsSchema>

export const noRunOptions: RunOptions = {
  ports: [],
  binds: [],
  mounts: [],
  tmpfs: {},
  capAdd: [],
  capDrop: [],
  extraHosts: [],
  dns: [],
  privileged: false,
}

/** The same as parts of the engine's create call, without its mounts. */
export function runBody(run: RunOptions): { body: object; host: object } {
  const { ports, binds, tmpfs, capAdd, capDrop, extraHosts, dns, shmBytes } = run
  const bindings = Map.groupBy(ports, ({ inside }) => inside)
  return {
    body: { ExposedPorts: Object.fromEntries([...bindings.keys()].map((inside) => [inside, {}])) },
    host: {
      ...(run.network !== undefined && { NetworkMode: run.network }),
      PortBindings: Object.fromEntries(
        [...bindings].map(([inside, each]) => [
          inside,
          each.map(({ hostIp, hostPort }) => ({ HostIp: hostIp, HostPort: hostPort })),
        ]),
      ),
      Binds: binds,
      Tmpfs: tmpfs,
      CapAdd: capAdd,
      CapDrop: capDrop,
      ExtraHosts: extraHosts,
      Dns: dns,
      Privileged: run.privileged,
      ...(shmBytes !== undefined && { ShmSize: shmBytes }),
    },
  }
}

/** For a life beside another one: two cannot have the same port of the host. */
export function withFreePorts(run: RunOptions): RunOptions {
  return { ...run, ports: run.ports.map((each) => ({ ...each, hostPort: '' })) }
}
