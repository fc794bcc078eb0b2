import type { Check } from '../backends/backend.ts'
import type { Settings } from '../model/settings.ts'
import { openEngine } from './engine.ts'
import { releaseIfUnused } from './operations/remove.ts'
import { recoverAbandoned } from './recovery/reconcile.ts'
import type { Unrecovered } from './recovery/recover.ts'

/** What `doctor` found. */
export interface Doctor {
  /** whether environments can be made and branched on this machine */
  readonly ok: boolean
  readonly checks: readonly Check[]
}

/** Every prerequisite, probed for real: the last check makes, dumps and restores a cell. */
export async function doctor(settings: Settings): Promise<Doctor> {
  const checks = await allChecks(settings)
  return { ok: checks.every((check) => check.status !== 'fail'), checks }
}

async function allChecks(settings: Settings): Promise<readonly Check[]> {
  if (process.geteuid?.() !== 0) {
    const found = `uid ${process.geteuid?.()}`
    return [{ name: 'root', status: 'fail', found, remedy: 'run it with sudo' }]
  }
  await using engine = await openEngine(settings)
  // Written down, so that if this process is killed the next one gives back the volume.
  const operation = engine.store.journal.begin('doctor', null)
  try {
    const root: Check = { name: 'root', status: 'ok', found: 'uid 0' }
    const { left } = await recoverAbandoned(engine)
    const checks: Check[] = []
    for (const backend of engine.backends()) checks.push(...(await backend.check()))
    return [root, ...checks, ...left.map(unfinished)]
  } finally {
    await releaseIfUnused(engine)
    engine.store.journal.finish(operation)
  }
}

/** What a killed process left half-done, and opening the store could not put right. */
function unfinished({ operation, error }: Unrecovered): Check {
  const { kind, environmentId: id, owner } = operation
  return {
    name: 'unfinished work',
    status: 'warn',
    found: `${kind}${id === null ? '' : ` of ${id}`} by process ${owner.pid}, which is gone: ${error.message}`,
    remedy: `every command tries again${id === null ? '' : `; \`forkpoint rm ${id}\` gives it up`}`,
  }
}
