import type { Check } from '../backends/backend.ts'
import { productRegistry } from '../backends/registry.ts'
import { PrerequisiteError } from '../model/errors.ts'
import type { Settings } from '../model/settings.ts'
import { type Engine, type EngineOptions, openEngine } from './engine.ts'
import { freeIfUnused } from './operations/remove.ts'
import type { UnrecoveredApply } from './recovery/applies.ts'
import { recoverAbandoned } from './recovery/reconcile.ts'
import type { Unrecovered } from './recovery/recover.ts'

/** What `doctor` found. */
export interface Doctor {
  /** whether environments can be made and branched on this machine */
  readonly ok: boolean
  readonly checks: readonly Check[]
}

/** Checks everything that the backends need on this machine, by using it. */
export async function doctor(settings: Settings, options: EngineOptions = {}): Promise<Doctor> {
  const checks = await allChecks(settings, options)
  return { ok: checks.every((check) => check.status !== 'fail'), checks }
}

async function allChecks(settings: Settings, options: EngineOptions): Promise<readonly Check[]> {
  const { makers } = options.backends ?? productRegistry
  const first = Object.values(makers).flatMap((maker) => maker.prerequisites?.() ?? [])
  try {
    await using engine = await openEngine(settings, options)
    return [...first, ...(await probe(engine))]
  } catch (error) {
    if (!(error instanceof PrerequisiteError)) throw error
    return [...first, failed('home', error)]
  }
}

async function probe(engine: Engine): Promise<Check[]> {
  // Recorded, so that if this process is killed, the next one removes what it made.
  const operation = engine.store.journal.begin('doctor', null)
  try {
    const { left, applies } = await recoverAbandoned(engine)
    const checks: Check[] = []
    for (const backend of engine.backends()) checks.push(...(await backend.check()))
    return [...checks, ...left.map(unfinished), ...applies.map(unfinishedApply)]
  } finally {
    await freeIfUnused(engine)
    engine.store.journal.finish(operation)
  }
}

function failed(name: string, { message, remedy }: PrerequisiteError): Check {
  return { name, status: 'fail', found: message, ...(remedy !== undefined && { remedy }) }
}

/** What a killed process left half-done, and opening the store could not recover. */
function unfinished({ operation, error }: Unrecovered): Check {
  const { kind, environmentId: id, owner } = operation
  const what = id === null ? kind : `${kind} of ${id}`
  const giveUp = id === null ? '' : `; to give up, run \`forkpoint rm ${id}\``
  return {
    name: 'unfinished work',
    status: 'warn',
    found: `${what} by process ${owner.pid}, which is gone: ${error.message}`,
    remedy: `every command tries to undo it again${giveUp}`,
  }
}

function unfinishedApply({ error }: UnrecoveredApply): Check {
  const found = `apply by a process that is gone: ${error.message}`
  const remedy = 'every command tries to undo it again'
  return { name: 'unfinished work', status: 'warn', found, remedy }
}
