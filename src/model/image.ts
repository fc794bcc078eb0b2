/** How an image wants its program to be checked. Times are in milliseconds. */
export interface Healthcheck {
  /** words of a program; a shell command is `['/bin/sh', '-c', …]` */
  readonly command: readonly string[]
  readonly intervalMs: number | null
  readonly timeoutMs: number | null
  readonly retries: number | null
}

/** What an environment keeps of the container image that it was made from. */
export interface EnvironmentImage {
  /** digest of the image's configuration, `sha256:…` */
  readonly id: string
  /** USER: who runs shells, and whatever else names no user; null: root */
  readonly user: string | null
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  /** EXPOSE, such as `80/tcp` */
  readonly ports: readonly string[]
  readonly volumes: readonly string[]
  readonly healthcheck: Healthcheck | null
}

/** What an image says about environments that are made from it. */
export interface ImageFacts extends EnvironmentImage {
  readonly env: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  readonly workdir: string
}
