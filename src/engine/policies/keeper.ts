import { listCommands } from '../../agent/commands/commands.ts'
import type { EnvironmentRecord } from '../../model/environment.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import { patience } from '../../model/values/patience.ts'
import { connectTo } from '../agents.ts'
import type { Engine } from '../engine.ts'
import { firstCommandId } from '../operations/create/first-command.ts'
import { pause } from '../operations/pause.ts'
import { remove } from '../operations/remove.ts'
import { release } from '../operations/snapshot/snapshot.ts'
import { type Due, nextDue } from './due.ts'
import { wake, wakesOnAccess } from './wake.ts'

/** Does what policies say, for as long as its process has the home open. */
export interface Keeper {
  close(): Promise<void>
}

const periodMs = 1000
/** After a failure, such as a snapshot that cannot be taken. */
const retryMs = 60_000
const longestAnswerSeconds = 10

/** What was announced about an environment. */
interface Notice {
  readonly due: Due
  /** not before; later than the due time after a failure */
  readonly actAt: number
}

export function keeper(engine: () => Engine): Keeper {
  const notices = new Map<EnvironmentId, Notice>()
  let current: Promise<void> | null = null
  const look = (): void => {
    current ??= keep(engine(), notices)
      .catch((err) => engine().log.warn({ err }, 'policies could not be kept; trying again'))
      .finally(() => {
        current = null
      })
  }
  const timer = setInterval(look, periodMs).unref()
  return {
    close: async () => {
      clearInterval(timer)
      await current
    },
  }
}

async function keep(engine: Engine, notices: Map<EnvironmentId, Notice>): Promise<void> {
  const { store } = engine
  const records = store.environments.list().filter(hasWork)
  const known = new Set(records.map(({ id }) => id))
  for (const id of notices.keys()) if (!known.has(id)) notices.delete(id)
  for (const record of records) {
    if (isUsedAsleep(engine, record)) await wakeOrWarn(engine, record.id)
    const due = nextDue(record, store.activity.lastAt(record.id))
    if (isAnnounced(engine, notices, record.id, due)) await act(engine, notices, record)
  }
}

function hasWork({ policy, sleptAt }: EnvironmentRecord): boolean {
  return policy?.ttlMs !== undefined || policy?.idle !== undefined || (sleptAt ?? null) !== null
}

/** Somebody was faster than the policy that paused it, or types into a terminal that was open before. */
function isUsedAsleep({ store }: Engine, record: EnvironmentRecord): boolean {
  const { id, sleptAt } = record
  return wakesOnAccess(record) && (store.activity.lastAt(id) ?? 0) > (sleptAt ?? Date.now())
}

async function wakeOrWarn(engine: Engine, id: EnvironmentId): Promise<void> {
  await wake(engine, id).catch((err) =>
    engine.log.warn({ environment: id, err }, 'cannot wake an environment that is used'),
  )
}

/** Whether it is time to act. What comes is announced first, at least one look before. */
function isAnnounced(
  { events, log }: Engine,
  notices: Map<EnvironmentId, Notice>,
  id: EnvironmentId,
  due: Due | null,
): boolean {
  const now = Date.now()
  if (due === null || now < due.announceAt) {
    notices.delete(id)
    return false
  }
  const notice = notices.get(id)
  if (notice?.due.at === due.at) return now >= notice.actAt
  const { action, cause, at } = due
  notices.set(id, { due, actAt: at })
  events.emit({
    type: 'policy',
    environment: id,
    action,
    cause,
    state: 'announced',
    due: at,
    at: now,
  })
  log.info({ environment: id, cause, due: at }, `a policy will ${action} an environment`)
  return false
}

async function act(
  engine: Engine,
  notices: Map<EnvironmentId, Notice>,
  seen: EnvironmentRecord,
): Promise<void> {
  const { events, store, log } = engine
  const { id } = seen
  // Another process does it now.
  using lease = store.leases.tryAcquire(`policy:${id}`, 'policy')
  const record = store.environments.get(id)
  const due = record && nextDue(record, store.activity.lastAt(id))
  if (!lease || !record || !due || due.at > Date.now()) return
  try {
    if (due.cause === 'idle' && (await runsCommand(engine, record))) {
      return store.activity.note(id, Date.now())
    }
    await actions[due.action](engine, id, due.cause)
    notices.delete(id)
  } catch (err) {
    const { action, cause, at } = due
    notices.set(id, { due, actAt: Date.now() + retryMs })
    events.emit({
      type: 'policy',
      environment: id,
      action,
      cause,
      state: 'failed',
      due: at,
      at: Date.now(),
    })
    log.warn({ environment: id, err, ...due }, `a policy could not ${due.action} an environment`)
  }
}

const actions = {
  pause: (engine: Engine, id: EnvironmentId, cause: Due['cause']) => pause(engine, id, { cause }),
  release: (engine: Engine, id: EnvironmentId, cause: Due['cause']) =>
    release(engine, id, { cause }),
  remove: (engine: Engine, id: EnvironmentId, cause: Due['cause']) => remove(engine, id, { cause }),
}

/** Whoever waits for a command uses the environment, even if nothing is printed for an hour. */
async function runsCommand(engine: Engine, record: EnvironmentRecord): Promise<boolean> {
  if (record.status !== 'running' || record.instance === null) return false
  const signal = AbortSignal.timeout(patience(longestAnswerSeconds))
  await using connection = await connectTo(engine, record, record.instance, { signal })
  const commands = await listCommands(connection, { signal })
  return commands.some(({ id, running }) => running && id !== firstCommandId)
}
