import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Debian's own, which scripts/test-packages gives its module for YAML. */
export const python = '/usr/bin/python3'
const toJson = 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)'

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string; readonly scheme: string }
}

/** The parts of deploy/daemonset.yaml that have to fit Forkpoint. */
export interface DaemonSet {
  readonly kind: string
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly updateStrategy: { readonly type: string }
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      readonly spec: {
        readonly automountServiceAccountToken: boolean
        readonly containers: readonly Container[]
        readonly volumes: readonly {
          readonly name: string
          readonly hostPath?: { readonly path: string }
        }[]
      }
    }
  }
}

export interface Container {
  readonly args: readonly string[]
  readonly securityContext: { readonly privileged: boolean }
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly startupProbe: Probe
  readonly readinessProbe: Probe
  readonly livenessProbe: Probe
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
}

export function readDaemonSet(path: string): DaemonSet {
  const text = execFileSync(python, ['-c', toJson], { input: readFileSync(path) })
  return JSON.parse(text.toString())
}

export function containerOf({ spec }: DaemonSet): Container {
  const [container] = spec.template.spec.containers
  if (container === undefined) throw new Error('the DaemonSet has no container')
  return container
}

export function probesOf({ startupProbe, readinessProbe, livenessProbe }: Container): Probe[] {
  return [startupProbe, readinessProbe, livenessProbe]
}

/** What the daemon has to know about, to judge whether a DaemonSet fits it. */
export interface Facts {
  /** the help of `serve` */
  readonly help: string
  readonly defaultHome: string
  /** directories that environments do not see */
  readonly mask: readonly string[]
  /** Whether it answers there without a token. */
  answers(path: string): Promise<boolean>
}

/** Everything in which a DaemonSet does not fit the daemon. */
export async function problemsOf(set: DaemonSet, facts: Facts): Promise<string[]> {
  const container = containerOf(set)
  return [
    ...problemsOfPod(set, facts),
    ...problemsOfArguments(container, facts),
    ...(await problemsOfProbes(container, facts)),
  ]
}

function problemsOfPod({ kind, spec }: DaemonSet, { defaultHome }: Facts): string[] {
  const { metadata, spec: pod } = spec.template
  const { labels } = metadata
  const mounts = pod.containers.flatMap(({ volumeMounts }) => volumeMounts)
  const home = mounts.find(({ mountPath }) => mountPath === defaultHome)
  const onNode = pod.volumes.filter(({ hostPath }) => hostPath !== undefined)
  const isSelected = Object.entries(spec.selector.matchLabels).every(
    ([key, value]) => labels[key] === value,
  )
  const unknown = mounts.filter(({ name }) => !pod.volumes.some((volume) => volume.name === name))
  return [
    ...(kind === 'DaemonSet' ? [] : ['it is no DaemonSet']),
    ...(isSelected ? [] : ['it does not select its own pods']),
    ...(spec.updateStrategy.type === 'OnDelete' ? [] : ['an update ends environments']),
    ...(pod.automountServiceAccountToken ? ['environments can find a way into the cluster'] : []),
    ...(pod.containers.every((each) => each.securityContext.privileged) ? [] : ['no privileges']),
    ...(onNode.some(({ name }) => name === home?.name) ? [] : ['the home ends with the pod']),
    ...(mounts.some(({ mountPath }) => mountPath === '/dev') ? [] : ['no new loop devices']),
    ...unknown.map(({ name }) => `no volume ${name}`),
  ]
}

function problemsOfArguments({ args, volumeMounts, ports }: Container, facts: Facts): string[] {
  const [verb, ...options] = args.map((word) => word.split('='))
  const paths = options.map(([, value = '']) => value).filter((value) => value.startsWith('/'))
  const isIn = (path: string) => (dir: string) => path.startsWith(`${dir}/`)
  const mounted = volumeMounts.map(({ mountPath }) => mountPath)
  const port = options
    .find(([name]) => name === '--listen')?.[1]
    ?.split(':')
    .at(-1)
  return [
    ...(verb?.[0] === 'serve' ? [] : ['it does not serve']),
    ...options
      .filter(([name]) => !facts.help.includes(`${name} <`))
      .map(([name]) => `no option ${name}`),
    ...paths.filter((path) => !mounted.some(isIn(path))).map((path) => `${path} is not mounted`),
    ...paths
      .filter((path) => !facts.mask.some(isIn(path)))
      .map((path) => `environments see ${path}`),
    ...ports
      .filter(({ containerPort }) => String(containerPort) !== port)
      .map(({ containerPort }) => `nobody listens on ${containerPort}`),
  ]
}

async function problemsOfProbes(container: Container, { answers }: Facts): Promise<string[]> {
  const hasTls = container.args.some((word) => word.startsWith('--tls-cert='))
  const each = probesOf(container).map(async ({ httpGet: { path, port, scheme } }) => [
    ...((await answers(path)) ? [] : [`no route ${path}`]),
    ...(container.ports.some(({ name }) => name === port) ? [] : [`no port ${port}`]),
    ...((scheme === 'HTTPS') === hasTls ? [] : [`a probe with ${scheme}`]),
  ])
  return (await Promise.all(each)).flat()
}
