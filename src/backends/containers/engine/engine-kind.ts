import { join } from 'node:path'

/** A program that runs containers and speaks Docker's REST API. */
export interface EngineKind {
  /** of the backend */
  readonly name: 'docker' | 'docker-processes' | 'podman' | 'podman-criu'
  readonly engine: 'docker' | 'podman'
  /**
   * what holds the processes of a snapshot: nothing, a directory of CRIU's images beside a committed image
   * (Docker), or one archive of both (Podman)
   */
  readonly checkpoints: 'none' | 'directory' | 'archive'
  /** the variable that tells its own client where it is */
  readonly variable: string
  /** what makes it available */
  readonly remedy: string
  /** where its socket usually is, the most likely first */
  sockets(env: NodeJS.ProcessEnv): readonly string[]
}

export const docker: EngineKind = {
  name: 'docker',
  engine: 'docker',
  checkpoints: 'none',
  variable: 'DOCKER_HOST',
  remedy: 'install and start Docker (`apt-get install docker.io`), or set docker.socket',
  sockets: ({ XDG_RUNTIME_DIR: run, HOME: home }) => [
    '/var/run/docker.sock',
    ...(run ? [join(run, 'docker.sock')] : []),
    ...(home ? [join(home, '.docker/run/docker.sock')] : []),
  ],
}

export const podman: EngineKind = {
  name: 'podman',
  engine: 'podman',
  checkpoints: 'none',
  variable: 'CONTAINER_HOST',
  remedy:
    'install Podman (`apt-get install podman`), start `podman system service --time=0`, or set podman.socket',
  sockets: ({ XDG_RUNTIME_DIR: run }) => [
    '/run/podman/podman.sock',
    ...(run ? [join(run, 'podman/podman.sock')] : []),
  ],
}

/** The same engine, which dumps containers with CRIU if it is experimental. */
export const dockerProcesses: EngineKind = {
  ...docker,
  name: 'docker-processes',
  checkpoints: 'directory',
}

/** The same engine, which checkpoints containers with CRIU. */
export const podmanCriu: EngineKind = { ...podman, name: 'podman-criu', checkpoints: 'archive' }

/** Whether snapshots hold processes. */
export function hasCheckpoints({ checkpoints }: EngineKind): boolean {
  return checkpoints !== 'none'
}
