import { findCriu } from '../../criu/criu.ts'
import { type CriuWorkers, criuWorkers } from '../../criu/criu-workers.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Settings } from '../../model/settings.ts'
import type { BackendContext } from '../backend.ts'
import { cgroupDirs } from './cell/cgroup.ts'
import { keyOfGroup } from './cell/cgroup-key.ts'
import { type CgroupLayout, detectLayout } from './cell/cgroup-layout.ts'
import { type NatNames, natNames } from './network/nat.ts'
import { cgroupName, type Places, placesOf } from './places.ts'

/** What every part of this backend works with. */
export interface Native extends Pick<BackendContext, 'exclusively'> {
  readonly settings: Settings
  readonly places: Places
  readonly layout: CgroupLayout
  readonly nat: NatNames
  readonly workers: CriuWorkers
  /** paths hidden in host and dir environments */
  readonly mask: readonly string[]
  /** the cgroups of one life of an environment; the one that freezes first */
  cgroups(id: EnvironmentId, slot: number): string[]
}

export function openNative({ settings, exclusively }: BackendContext): Native {
  const places = placesOf(settings.home)
  const layout = detectLayout()
  return {
    ...{ settings, exclusively, places, layout },
    nat: natNames(places.key),
    workers: criuWorkers(() => findCriu(settings)),
    mask: [...settings.mask, places.home],
    cgroups: (id, slot) => {
      const name = cgroupName(id, slot)
      return cgroupDirs(layout, keyOfGroup(layout, places.key, name), name)
    },
  }
}
