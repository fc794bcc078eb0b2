import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { findCriu } from '../../../criu/criu.ts'
import { dumpForeign } from '../../../criu/foreign/dump-foreign.ts'
import { outerPipes } from '../../../criu/foreign/leading-nowhere.ts'
import { outerSockets } from '../../../criu/foreign/outer-sockets.ts'
import { requireOutside, requireUntraced } from '../../../criu/foreign/process.ts'
import { requireNoTerminal } from '../../../criu/foreign/terminals.ts'
import { imageOfStill } from '../../../images/images.ts'
import { removeTree } from '../../../linux/files/remove-tree.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import { treeOf } from '../../../linux/process-tree.ts'
import type { Instance, Source } from '../../../model/environment.ts'
import type { EnvironmentImage } from '../../../model/image.ts'
import type { Attaching, AttachSpec } from '../../facets.ts'
import { type Attributes, attributesOf } from '../cell/environment-directory.ts'
import { endSlot } from '../cell/lives.ts'
import { takeSlot } from '../cell/slots.ts'
import { explained } from '../host-failures.ts'
import { fromRecord } from '../instance.ts'
import { openVolumesForNew } from '../machine.ts'
import type { Native } from '../native.ts'
import { imageStore } from '../native-images.ts'
import { requireRoom } from '../overlay/volumes/require-room.ts'
import { create } from '../starting.ts'
import {
  archiveIn,
  bringFiles,
  type CopiedFiles,
  packFiles,
  planCopy,
  requireDirectory,
  requireOnRoot,
} from './files.ts'
import { bringProcesses, type DumpedProcesses } from './processes.ts'
import { type Foreign, findTarget, foreignOf } from './target.ts'

const doing = 'adopting processes'

/** Processes that run elsewhere can be copied into a cell. The cell is ours, so no life of it is foreign. */
export function nativeAttaching(native: Native): Attaching {
  return {
    find: (target) => findTarget(native, target),
    attach: (spec, signal) => attach(native, spec, signal),
    keyOf: () => null,
    lacks: () => [],
  }
}

/** Where a new cell gets its files, and what it needs besides. */
interface Taken extends DumpedProcesses {
  readonly source: Source
  /** that was made of a container */
  readonly image?: EnvironmentImage
  readonly copied: CopiedFiles | null
  /** of `/` */
  readonly root: Attributes
}

async function attach(native: Native, spec: AttachSpec, signal?: AbortSignal): Promise<Instance> {
  const { places, tools } = native
  const { id } = spec
  await requireRoom(native, doing)
  await openVolumesForNew(native)
  const slot = await explained(doing, () => takeSlot(places, id))
  const place = places.slot(id, slot)
  const stage = join(place.dir, 'adopted')
  killPoint('attach:noted')
  try {
    await mkdir(stage, { mode: 0o755 })
    const { copied, images, nowhere, ...made } = await take(native, spec, stage, signal)
    killPoint('attach:brought')
    const instance = await create(native, { ...spec, ...made, slot }, signal)
    const life = fromRecord(instance)
    if (copied !== null) await bringFiles(place, life, copied, archiveIn(stage))
    await bringProcesses(native, id, life, { images, nowhere })
    killPoint('attach:alive')
    await removeTree(tools, stage)
    return instance
  } catch (error) {
    await endSlot(native, id, slot)
    throw error
  }
}

/** Dumps the processes and copies their files, at the same moment. They continue, whatever fails. */
async function take(
  native: Native,
  spec: AttachSpec,
  stage: string,
  signal: AbortSignal | undefined,
): Promise<Taken> {
  const foreign = await foreignOf(native, spec.target)
  const files = await filesOf(native, foreign, spec, stage, signal)
  const { pid } = foreign.process
  const tree = treeOf(pid)
  requireOutside(pid, tree)
  requireUntraced(pid)
  requireNoTerminal(tree)
  const { tools, workers, settings } = native
  const sockets = await outerSockets(tools, tree)
  const nowhere = [...sockets.map((inode) => `socket:[${inode}]`), ...outerPipes(tree)]
  const images = join(stage, 'images')
  signal?.throwIfAborted()
  const tooling = { tools, criu: findCriu(settings), logs: workers.logs }
  await dumpForeign(tooling, { pid, images, sockets, whenStill: () => files.copy(treeOf(pid)) })
  return { images, nowhere, root: await rootOf(pid, settings.ids.base), ...(await files.taken()) }
}

/** CRIU compares them. On disk, the ids of all cells begin at `base`. */
async function rootOf(pid: number, base: number): Promise<Attributes> {
  const { mode, uid, gid } = await attributesOf(`/proc/${pid}/root/`)
  return { mode, uid: base + uid, gid: base + gid }
}

interface Files {
  /** while the processes stand still */
  copy(tree: readonly number[]): Promise<void>
  /** afterwards */
  taken(): Promise<Pick<Taken, 'source' | 'image' | 'copied'>>
}

async function filesOf(
  native: Native,
  { container }: Foreign,
  { workdir, image: given, uses }: AttachSpec,
  stage: string,
  signal: AbortSignal | undefined,
): Promise<Files> {
  if (container === null) return filesOfHost(native, workdir, stage)
  const still = await imageOfStill(imageStore(native), container, signal)
  return {
    copy: async (tree) => {
      requireOnRoot(tree)
      const id = await still.commit()
      if (given !== undefined) uses({ ...given, id })
    },
    taken: async () => {
      const { facts } = await still.cached()
      const source: Source = { kind: 'container', name: container.name }
      const image = { ...facts, ...given, id: facts.id }
      return { source, image, copied: null }
    },
  }
}

function filesOfHost({ mask, tools }: Native, workdir: string, stage: string): Files {
  requireDirectory(workdir)
  let copied: CopiedFiles | null = null
  return {
    copy: async (tree) => {
      copied = planCopy(tree, workdir, mask)
      await packFiles(tools, copied, archiveIn(stage))
    },
    taken: async () => ({ source: { kind: 'host' }, copied }),
  }
}
