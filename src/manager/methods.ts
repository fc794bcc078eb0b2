import { resolve } from 'node:path'
import { checked, fields, type Input, list, options } from '../api/inputs/checked.ts'
import * as v from '../api/inputs/values.ts'
import { InvalidInputError } from '../model/errors.ts'
import { closest } from '../model/text/closest.ts'
import { quote } from '../model/text/quote.ts'
import { withoutUndefined } from '../model/values/without-undefined.ts'

/** The arguments of StateFork's methods, in camel case; each method accepts its own. */
export interface MethodArguments {
  /** a directory with a Dockerfile */
  readonly dockerfileDir?: string
  readonly baseImage?: string
  /** further arguments of `docker run` or `podman run` */
  readonly extraArgs?: readonly string[]
  readonly containerName?: string
  readonly workDir?: string
  readonly command?: readonly string[]
  readonly targetPid?: number
  readonly exportDir?: string
  /** `false`: the directory is a workspace, not one with a Dockerfile */
  readonly build?: boolean
  /** the id or name of an environment */
  readonly sessionId?: string
  readonly fireParentDir?: string
  readonly injectDir?: string
}

/** What a method means here. */
export type Target =
  | {
      readonly kind: 'create'
      /** of `Forkpoint.create`, which checks them: a backend may accept more than others do */
      readonly options: Readonly<Record<string, unknown>>
      /** copied into the working directory once the environment runs */
      readonly inject?: string
    }
  /** something that runs already; options of `Forkpoint.attach`, which checks them */
  | { readonly kind: 'attach'; readonly options: Readonly<Record<string, unknown>> }
  /** an environment that exists already */
  | { readonly kind: 'find'; readonly reference: string }

type Method = (name: string, given: unknown) => Target

function method<A>(input: Input<A>, target: (args: A, name: string) => Target): Method {
  return (name, given) => target(checked(name, input, given), name)
}

const words: Input<readonly string[]> = list('a list of words', v.text(64 * 1024))
const pid = v.whole(1)
const run = { baseImage: v.word, extraArgs: words }

const containerBuild = (backend: string) =>
  method(options({ ...run, dockerfileDir: v.path }), (args, name) =>
    created(backend, imageOf(name, args), runArguments(args)),
  )

const containerAttach = (backend: string) =>
  method(fields({ containerName: v.word }, run), (args) =>
    attached(backend, args.containerName, runArguments(args)),
  )

const waypointBuild = method(options({ dockerfileDir: v.path, build: v.truth }), (args) => {
  const { dockerfileDir, build = true } = args
  if (dockerfileDir === undefined) return created('native', 'host')
  return created('native', `${build ? 'dockerfile' : 'dir'}:${dockerfileDir}`)
})

const waypointAttach = method(options({ targetPid: pid, sessionId: v.word }), (args, name) => {
  const { targetPid, sessionId } = args
  // A session has all of its processes, so the pid of one of them adds nothing.
  if (sessionId !== undefined) return { kind: 'find', reference: sessionId }
  if (targetPid !== undefined) return attached('native', targetPid)
  throw new InvalidInputError(`${name}: neither a session nor a process is named`, {
    remedy: 'give sessionId, the id or name of an environment, or targetPid',
  })
})

const methods = {
  docker_build: containerBuild('docker'),
  docker_attach: containerAttach('docker'),
  podman_build: containerBuild('podman'),
  podman_attach: containerAttach('podman'),
  criu_build: method(options({ workDir: v.path, command: words }), ({ workDir = '.', command }) =>
    created('criu', `dir:${workDir}`, withoutUndefined({ command })),
  ),
  criu_attach: method(fields({ targetPid: pid }, { workDir: v.path }), ({ targetPid, workDir }) =>
    attached('criu', targetPid, workDir === undefined ? {} : { workdir: resolve(workDir) }),
  ),
  hybrid_build: method(
    options({ ...run, containerName: v.word, dockerfileDir: v.path, exportDir: v.path }),
    (args, name) =>
      created('podman-criu', imageOf(name, args), {
        ...runArguments(args),
        ...withoutUndefined({ name: args.containerName, exportDir: absolute(args.exportDir) }),
      }),
  ),
  hybrid_attach: method(fields({ containerName: v.word }, { exportDir: v.path }), (args) =>
    attached(
      'podman-criu',
      args.containerName,
      withoutUndefined({ exportDir: absolute(args.exportDir) }),
    ),
  ),
  gvisor_build: containerBuild('gvisor'),
  gvisor_attach: containerAttach('gvisor'),
  firecracker_build: method(options({ fireParentDir: v.path, injectDir: v.path }), (args) => ({
    ...created(
      'microvm',
      args.fireParentDir === undefined ? 'host' : `rootfs:${args.fireParentDir}`,
    ),
    ...withoutUndefined({ inject: args.injectDir }),
  })),
  firecracker_attach: method(fields({ targetPid: pid }, {}), ({ targetPid }) =>
    attached('microvm', targetPid),
  ),
  waypoint_build: waypointBuild,
  waypoint_attach: waypointAttach,
  ckpt_build: waypointBuild,
  ckpt_attach: waypointAttach,
} as const satisfies Record<string, Method>

/** A way to make a manager, as StateFork names it. */
export type EnvMethod = keyof typeof methods

export const envMethods = Object.keys(methods) as readonly EnvMethod[]

/** Translates a method and its arguments. Pure: nothing is looked up or made. */
export function targetOf(name: string, given: Readonly<Record<string, unknown>>): Target {
  const known = envMethods.find((each) => each === name)
  if (known !== undefined) return methods[known](name, camelCase(given))
  const meant = closest(name, envMethods)
  throw new InvalidInputError(`there is no method ${quote(name)}`, {
    remedy:
      meant.length > 0
        ? `did you mean ${meant.join(' or ')}?`
        : `use one of: ${envMethods.join(', ')}`,
  })
}

/** `dockerfile_dir`, as StateFork writes it, is `dockerfileDir` here. */
export function camelCase(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const renamed = Object.entries(given).map(([key, value]) => [
    key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ])
  return Object.fromEntries(renamed)
}

type Created = Extract<Target, { kind: 'create' }>

function created(
  backend: string,
  from: string,
  more: Readonly<Record<string, unknown>> = {},
): Created {
  return { kind: 'create', options: { backend, from, ...more } }
}

function attached(
  backend: string,
  target: string | number,
  more: Readonly<Record<string, unknown>> = {},
): Target {
  return { kind: 'attach', options: { backend, target, ...more } }
}

function imageOf(name: string, args: Pick<MethodArguments, 'dockerfileDir' | 'baseImage'>): string {
  if (args.dockerfileDir !== undefined) return `dockerfile:${args.dockerfileDir}`
  if (args.baseImage !== undefined) return `image:${args.baseImage}`
  throw new InvalidInputError(`${name}: neither a Dockerfile nor an image is named`, {
    remedy: 'give dockerfileDir, a directory with a Dockerfile, or baseImage',
  })
}

/** StateFork's is relative to where its process runs. */
function absolute(path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolve(path)
}

function runArguments({ extraArgs = [] }: Pick<MethodArguments, 'extraArgs'>) {
  return extraArgs.length === 0 ? {} : { extraArgs }
}
