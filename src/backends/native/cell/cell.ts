import { runCell } from '../../../linux/run-cell.ts'
import type { IdRange } from './id-ranges.ts'

/** A read-only layer of an environment's root. */
export interface Layer {
  readonly path: string
  /** `host`: files have the host's ids; `cell`: those that files of every cell have on disk */
  readonly ids: 'host' | 'cell'
}

export interface CellNet {
  readonly interface: string
  readonly address: string
  readonly gateway: string
  readonly prefix: number
}

export interface CellSpec {
  /** the environment's directory: upper, work, run, stage */
  readonly dir: string
  readonly dev: string
  /** what memory is mapped from */
  readonly pages: string
  /** topmost first */
  readonly layers: readonly Layer[]
  readonly hostname: string
  readonly ids: IdRange
  /** the first of the ids that its files have on disk */
  readonly diskIds: number
  /** cgroups that the first process joins */
  readonly cgroups: readonly string[]
  readonly noNewPrivs: boolean
  readonly net: CellNet | null
}

/** Makes the cell and starts its first process, the agent; returns its host pid. */
export async function createCell(spec: CellSpec): Promise<number> {
  const stdout = await runCell('making the cell', ['create', ...cellArguments(spec)])
  return Number(stdout)
}

export function cellArguments(spec: CellSpec): string[] {
  const args = ['--env', spec.dir, '--dev', spec.dev, '--hostname', spec.hostname]
  args.push('--pages', spec.pages)
  args.push('--id-base', String(spec.ids.base), '--id-count', String(spec.ids.count))
  args.push('--disk-base', String(spec.diskIds))
  for (const layer of spec.layers) args.push('--layer', `${layer.ids}:${layer.path}`)
  for (const dir of spec.cgroups) args.push('--cgroup', dir)
  if (spec.noNewPrivs) args.push('--no-new-privs')
  if (spec.net) {
    args.push('--veth', spec.net.interface, '--address', spec.net.address)
    args.push('--gateway', spec.net.gateway, '--prefix', String(spec.net.prefix))
  }
  return args
}
