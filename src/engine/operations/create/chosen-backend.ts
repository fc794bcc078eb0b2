import type { Backend } from '../../../backends/backend.ts'
import type { AcceptedExtras } from '../../../backends/facets.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { unsupported } from '../../../model/unsupported.ts'
import { can } from '../../capabilities.ts'
import type { Engine } from '../../engine.ts'
import type { CreateOptions } from './create.ts'

/** The backend that the caller names, or its variant that keeps processes. */
export function backendFor(engine: Engine, options: CreateOptions): Backend {
  const named = engine.backend(options.backend ?? engine.defaultBackend)
  const { processes = named.withProcesses?.isDefault ?? false } = options
  if (!processes || can(named, 'processes')) return named
  if (named.withProcesses === undefined) throw unsupported(named.name, 'processes')
  return engine.backend(named.withProcesses.backend)
}

/** What the backend makes of options that only some backends have; null if there are none. */
export async function acceptExtras(
  backend: Backend,
  { extraArgs, exportDir }: CreateOptions,
): Promise<AcceptedExtras | null> {
  if (extraArgs === undefined && exportDir === undefined) return null
  if (backend.extras !== undefined) return await backend.extras.accept({ extraArgs, exportDir })
  const given = extraArgs === undefined ? 'exportDir' : 'extraArgs'
  throw new InvalidInputError(`the ${backend.name} backend has no option ${given}`, {
    remedy: 'leave it out, or use the backend of a container engine',
    detail: { option: given },
  })
}

/** What the caller says in the usual options counts more than the same among the extras. */
export function withExtras(options: CreateOptions, extras: AcceptedExtras | null): CreateOptions {
  if (extras === null) return options
  const { net = extras.net, workdir = extras.workdir } = options
  return {
    ...options,
    ...(net !== undefined && { net }),
    ...(workdir !== undefined && { workdir }),
    env: { ...extras.env, ...options.env },
    labels: { ...extras.labels, ...options.labels },
    limits: { ...extras.limits, ...options.limits },
  }
}
