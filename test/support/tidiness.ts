// Whether the machine holds what the store knows of, and nothing else.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { cgroupDirs } from '../../src/backends/native/cell/cgroup.ts'
import { detectLayout } from '../../src/backends/native/cell/cgroup-layout.ts'
import { placesOf } from '../../src/backends/native/places.ts'
import type { Forkpoint } from '../../src/index.ts'
import { isSnapshotId } from '../../src/model/ids.ts'
import { patiently } from './patiently.ts'
import { remainsOf } from './remains.ts'
import type { TestHome } from './test-home.ts'

interface Holdings {
  /** one for each environment that has processes, and for each spare, by environment */
  readonly slots: string[]
  readonly cgroups: string[]
  readonly frozen: string[]
  readonly images: string[]
  readonly layers: string[]
  readonly interfaces: number
}

/**
 * In the end: what a snapshot replaced goes after the call has returned, and the kernel takes an
 * interface away some time after the last process that could use it.
 */
export async function expectTidy(home: TestHome, fp: Forkpoint): Promise<void> {
  await fp.sparesReady()
  const wanted = await wantedOf(fp)
  await expect.poll(() => holdingsOf(home), patiently).toEqual(wanted)
}

async function wantedOf(fp: Forkpoint): Promise<Holdings> {
  const environments = await fp.list()
  const snapshots = (await fp.snapshots()).map(({ info }) => info)
  const unready = snapshots.filter(({ status }) => status !== 'ready')
  expect(unready, 'snapshots that are not ready').toEqual([])
  const live = environments.filter(({ status }) => status === 'running' || status === 'paused')
  const spares = (await fp.spares()).map(({ environment }) => environment)
  const ids = [...live.map(({ id }) => id), ...spares].sort()
  const paused = live.filter(({ status }) => status === 'paused').map(({ id }) => id)
  return {
    slots: ids,
    cgroups: ids,
    frozen: [...paused, ...spares].sort(),
    images: snapshots
      .filter(({ captured }) => captured.includes('processes'))
      .map(({ id }) => id)
      .sort(),
    layers: snapshots
      .flatMap(({ id, sizes }) => [id, ...Object.keys(sizes.squashed ?? {}).flatMap(withMembers)])
      .sort(),
    interfaces: live.filter(({ info }) => info.net.mode === 'nat').length,
  }
}

/** A merged layer has a list of what it was made of beside it. */
function withMembers(layer: string): string[] {
  return [layer, `${layer}.members`]
}

function holdingsOf(home: TestHome): Holdings {
  const places = placesOf(home.path)
  const groups = dirname(cgroupDirs(detectLayout(), home.key, 'x')[0] ?? '')
  const cgroups = directoriesOf(groups)
  return {
    slots: entriesOf(places.envs)
      .flatMap((id) => entriesOf(join(places.envs, id)).map(() => id))
      .sort(),
    cgroups: cgroups.map(environmentOf).sort(),
    frozen: cgroups
      .filter((name) => isFrozen(join(groups, name)))
      .map(environmentOf)
      .sort(),
    images: entriesOf(join(places.data, 'snapshots')).sort(),
    layers: entriesOf(places.layers)
      .filter((name) => isSnapshotId(name.split('.')[0]))
      .sort(),
    interfaces: remainsOf(home).interfaces.length,
  }
}

function environmentOf(cgroup: string): string {
  return cgroup.split('-')[0] ?? ''
}

/** One that goes at this moment is not frozen any more. */
function isFrozen(cgroup: string): boolean {
  try {
    return readFileSync(join(cgroup, 'cgroup.freeze'), 'utf8').trim() === '1'
  } catch {
    return false
  }
}

function entriesOf(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}

function directoriesOf(dir: string): string[] {
  try {
    const entries = readdirSync(dir, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  } catch {
    return []
  }
}
