import { join } from 'node:path'
import { findCriu } from '../../criu/criu.ts'
import { type CriuWorkers, criuWorkers } from '../../criu/criu-workers.ts'
import { keptLogs } from '../../criu/kept-logs.ts'
import { type ManifestChecks, manifestChecks } from '../../criu/manifest.ts'
import { VerdictCache } from '../../criu/safety/verdict-cache.ts'
import { chooseTracking, type TrackingChoice } from '../../criu/tracking/choose.ts'
import { whyNotTrackable } from '../../criu/tracking/tracker.ts'
import { Spawner } from '../../linux/spawner.ts'
import { type Tools, toolsOf } from '../../linux/tools.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { NativeSettings, Settings } from '../../model/settings.ts'
import type { BackendContext } from '../backend.ts'
import { type Cgroups, cgroupDirs } from './cell/cgroup.ts'
import { keyOfGroup } from './cell/cgroup-key.ts'
import { type CgroupLayout, detectLayout } from './cell/cgroup-layout.ts'
import { type NatNames, natNames } from './network/nat.ts'
import { CopiesAhead } from './overlay/subvolumes/ahead.ts'
import { DiskLimits } from './overlay/subvolumes/disk-limits.ts'
import { cgroupName, type Places, placesOf } from './places.ts'
import type { KeptWaits } from './snapshot/continue-original.ts'
import { Remembered } from './snapshot/remembered.ts'

/** What every part of this backend works with. Disposing of it ends the processes it keeps ready. */
export interface Native extends Pick<BackendContext, 'exclusively' | 'log'>, Disposable {
  readonly settings: NativeSettings & Pick<Settings, 'runtime'>
  readonly places: Places
  readonly layout: CgroupLayout
  readonly nat: NatNames
  readonly tools: Tools
  readonly workers: CriuWorkers
  readonly manifests: ManifestChecks
  readonly disks: DiskLimits
  readonly ahead: CopiesAhead
  /** on the memory safety of programs */
  readonly verdicts: VerdictCache
  readonly waits: KeptWaits
  readonly remembered: Remembered
  /** why writes to memory cannot be tracked here; null if they can */
  whyNotTrackable(): Promise<string | null>
  /** how the next snapshot of a life finds what was written */
  tracking(): Promise<TrackingChoice>
  /** paths hidden in host and dir environments */
  readonly mask: readonly string[]
  /** the cgroups of one life of an environment */
  cgroups(id: EnvironmentId, slot: number): Cgroups
}

export function openNative(context: BackendContext): Native {
  const { home, runtime, native } = context.settings
  const settings = { ...native, runtime }
  const places = placesOf(home)
  const layout = detectLayout()
  const spawner = new Spawner()
  const tools = toolsOf(spawner)
  const disks = new DiskLimits(tools, context.log)
  const ahead = new CopiesAhead(tools, context.log)
  const askKernel = once(() => whyNotTrackable(tools))
  return {
    settings,
    places,
    layout,
    log: context.log,
    exclusively: context.exclusively,
    nat: natNames(places.key),
    tools,
    disks,
    ahead,
    workers: criuWorkers(spawner, () => findCriu(settings), keptLogs(places.logs)),
    manifests: manifestChecks(),
    // Verdicts depend on programs, not on homes, so all homes with the same tools share them.
    verdicts: new VerdictCache(join(settings.runtime, 'verdicts')),
    waits: new Map(),
    remembered: new Remembered(tools, places, context.log),
    whyNotTrackable: askKernel,
    tracking: () => chooseTracking(settings.tracking, askKernel),
    mask: [...settings.mask, places.home],
    cgroups: (id, slot) => {
      const name = cgroupName(id, slot)
      return cgroupDirs(layout, keyOfGroup(layout, places.key, name), name)
    },
    [Symbol.dispose]: () => {
      ahead[Symbol.dispose]()
      disks[Symbol.dispose]()
      spawner[Symbol.dispose]()
    },
  }
}

/** The kernel does not change. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => (answer ??= ask())
}
