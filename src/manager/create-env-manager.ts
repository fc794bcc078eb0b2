import type { Environment } from '../api/handles/environment.ts'
import type { AttachOptions, CreateOptions, ForkpointHandle } from '../api/handles/forkpoint.ts'
import { checked } from '../api/inputs/checked.ts'
import { path, word } from '../api/inputs/values.ts'
import { Forkpoint, type OpenOptions } from '../forkpoint.ts'
import { noteOf, OperationLog } from './bench/operation-log.ts'
import { Branch, mainBranch } from './branch.ts'
import { type DeciderChoice, deciderOf } from './decide/decider.ts'
import { EnvManager } from './env-manager.ts'
import { checkHooks, type Hook } from './hooks/hook.ts'
import { type EnvMethod, type MethodArguments, type Target, targetOf } from './methods.ts'
import type { Session } from './session.ts'
import { label } from './tree/labels.ts'

/** What a manager has whatever its method. */
export interface EnvManagerSettings {
  readonly method: EnvMethod
  /** when a snapshot is physical; default `always` */
  readonly decider?: DeciderChoice
  /** what is branched together with the environments */
  readonly hooks?: readonly Hook[]
  /** a file that gets every operation as a line of JSON */
  readonly benchmarkLog?: string
  /** an open Forkpoint, which stays open; absent: the manager opens its own */
  readonly forkpoint?: ForkpointHandle
  /** how to open one */
  readonly open?: OpenOptions
  /** further options for a new environment, which come before those of the method */
  readonly create?: CreateOptions
}

/** A method's arguments in StateFork's spelling, such as `dockerfile_dir`. */
export type SnakeCaseArguments = Readonly<Record<`${string}_${string}`, unknown>>

export type EnvManagerOptions = EnvManagerSettings & (MethodArguments | SnakeCaseArguments)

/**
 * Makes a manager by one of StateFork's methods: `docker_build`, `podman_attach`, `waypoint_build`, …
 * Its arguments are StateFork's, in camel case or as they are there.
 *
 * @example
 * await using manager = await createEnvManager({ method: 'waypoint_build', decider: 'cost' })
 * const { stdout } = await manager.execCommand('uname')
 */
export async function createEnvManager(given: EnvManagerOptions): Promise<EnvManager> {
  const {
    method,
    decider = 'always',
    hooks = [],
    benchmarkLog,
    forkpoint,
    open,
    create,
    ...args
  } = given
  // Everything is checked before anything is made.
  const target = targetOf(checked('method', word, method), args)
  const parts = {
    decider: deciderOf(decider),
    hooks: checkHooks(hooks),
    log: await OperationLog.open(
      benchmarkLog === undefined ? undefined : checked('benchmarkLog', path, benchmarkLog),
    ),
  }
  const fp = forkpoint ?? (await Forkpoint.open(open))
  const close = async () => {
    if (forkpoint === undefined) await fp.close()
  }
  try {
    return new EnvManager(await openSession(fp, target, parts, create ?? {}), close)
  } catch (error) {
    await close()
    throw error
  }
}

async function openSession(
  fp: ForkpointHandle,
  target: Target,
  parts: Pick<Session, 'decider' | 'hooks' | 'log'>,
  create: CreateOptions,
): Promise<Session> {
  if (target.kind === 'find') return await attachedSession(fp, target.reference, parts)
  const environment = await parts.log.time(noteOf('create', mainBranch), async (note) => {
    const made = await (target.kind === 'attach'
      ? attachTarget(fp, target, create)
      : createTarget(fp, target, create))
    note.environment = made.id
    return made
  })
  const main = new Branch(mainBranch, environment, null)
  if (target.kind === 'attach') main.unlogged = unknownPast
  return sessionOf(fp, main, parts, 'new')
}

const unknownPast = 'nobody knows what ran before this manager was attached'

/** `attach` checks its options itself, whatever their types claim. */
function attachTarget(
  fp: ForkpointHandle,
  { options }: Extract<Target, { kind: 'attach' }>,
  create: CreateOptions,
): Promise<Environment> {
  return fp.attach({ ...(options as Readonly<AttachOptions>), ...create })
}

async function createTarget(
  fp: ForkpointHandle,
  { options, inject }: Extract<Target, { kind: 'create' }>,
  create: CreateOptions,
): Promise<Environment> {
  // `create` checks its options itself, whatever their types claim.
  const environment = await fp.create({ ...(options as CreateOptions), ...create })
  try {
    if (inject !== undefined) await environment.files.upload(inject, environment.lastInfo.workdir)
    return environment
  } catch (error) {
    await environment.remove({ force: true })
    throw error
  }
}

/** Continues a session: its snapshots and its other branches are found again. */
async function attachedSession(
  fp: ForkpointHandle,
  reference: string,
  parts: Pick<Session, 'decider' | 'hooks' | 'log'>,
): Promise<Session> {
  const environment = await fp.get(reference)
  const session = sessionOf(fp, await foundBranch(fp, mainBranch, environment), parts, 'attached')
  const others = await fp.list({ labels: { [label.session]: environment.id } })
  for (const other of others) {
    const { labels } = other.lastInfo
    if (labels[label.replaying] !== undefined) continue
    const name = labels[label.branch] ?? other.id
    session.branches.set(name, await foundBranch(fp, name, other))
  }
  return session
}

async function foundBranch(
  fp: ForkpointHandle,
  name: string,
  environment: Environment,
): Promise<Branch> {
  const { head } = environment.lastInfo
  const labels = head === null ? {} : (await fp.snapshot(head)).lastInfo.labels
  const branch = new Branch(name, environment, labels[label.replayOf] ?? head)
  branch.unlogged = unknownPast
  return branch
}

function sessionOf(
  fp: ForkpointHandle,
  main: Branch,
  parts: Pick<Session, 'decider' | 'hooks' | 'log'>,
  from: 'new' | 'attached',
): Session {
  const branches = new Map([[main.name, main]])
  const isAttached = from === 'attached'
  return { fp, id: main.environment.id, isAttached, ...parts, branches, current: main.name }
}
