import type { Tools } from '../../../linux/tools.ts'
import type { Cgroups } from './cgroup.ts'
import type { Attributes } from './environment-directory.ts'
import type { IdRange } from './id-ranges.ts'

/** A read-only layer of an environment's root. */
export interface Layer {
  readonly path: string
  /** `host`: files have the host's ids; `cell`: the ids that all cells use on disk */
  readonly ids: 'host' | 'cell'
}

/** How a cell calls itself and the host's end of its link. */
export interface CellAddresses {
  readonly address: string
  readonly gateway: string
  readonly prefix: number
}

export interface CellNet extends CellAddresses {
  readonly interface: string
}

export interface CellSpec {
  /** the environment's directory: upper, work, run, stage */
  readonly dir: string
  readonly dev: string
  /** directory of the files that memory is mapped from */
  readonly pages: string
  /** topmost first */
  readonly layers: readonly Layer[]
  /** the subvolume to make for its files, and the one to copy; null: they go into `dir` */
  readonly files: { readonly path: string; readonly from: string | null } | null
  /** mode and owner of `/` in a subvolume that begins empty; absent: those of a new environment */
  readonly root?: Attributes | undefined
  readonly hostname: string
  readonly ids: IdRange
  /** first of the ids that its files have on disk */
  readonly diskIds: number
  /** cgroups that the first process joins */
  readonly cgroups: Cgroups
  readonly noNewPrivs: boolean
  readonly net: CellNet | null
  /** addresses that a cell without a link has, so that its sockets can be bound to them */
  readonly loose: CellAddresses | null
}

/** Makes the cell and starts its first process, the agent; returns its host pid. */
export async function createCell(tools: Tools, spec: CellSpec): Promise<number> {
  const stdout = await tools.runCell('making the cell', ['create', ...cellArguments(spec)])
  return Number(stdout)
}

export function cellArguments(spec: CellSpec): string[] {
  const args = ['--env', spec.dir, '--dev', spec.dev, '--hostname', spec.hostname]
  args.push('--pages', spec.pages)
  args.push('--id-base', String(spec.ids.base), '--id-count', String(spec.ids.count))
  args.push('--disk-base', String(spec.diskIds))
  if (spec.files) args.push('--files', spec.files.path)
  if (spec.files?.from) args.push('--files-of', spec.files.from)
  if (spec.root) args.push('--root', attributesText(spec.root))
  for (const layer of spec.layers) args.push('--layer', `${layer.ids}:${layer.path}`)
  for (const dir of spec.cgroups) args.push('--cgroup', dir)
  if (spec.noNewPrivs) args.push('--no-new-privs')
  if (spec.net) args.push('--veth', spec.net.interface)
  const addresses = spec.net ?? spec.loose
  if (addresses) {
    const { address, gateway, prefix } = addresses
    args.push('--address', address, '--gateway', gateway, '--prefix', String(prefix))
  }
  return args
}

function attributesText({ mode, uid, gid }: Attributes): string {
  return `${mode.toString(8)}:${uid}:${gid}`
}
