// Whether the machine holds what the store knows about, and nothing else.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect } from 'vitest'
import { cgroupDirs } from '../../src/backends/native/cell/cgroup.ts'
import { detectLayout } from '../../src/backends/native/cell/cgroup-layout.ts'
import { ballastIn } from '../../src/backends/native/overlay/volumes/room.ts'
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
  /** what snapshots hold of files: a layer or a subvolume each, and squashed layers */
  readonly files: string[]
  /** subvolumes of lives that do not exist */
  readonly strays: string[]
  readonly interfaces: number
}

/**
 * Eventually: what a snapshot replaced is removed after the call has returned, and the kernel removes an
 * interface some time after the last process that could use it.
 */
export async function expectTidy(home: TestHome, fp: Forkpoint): Promise<void> {
  await fp.sparesReady()
  const wanted = await wantedOf(fp)
  await expect.poll(() => holdingsOf(home), patiently).toEqual(wanted)
}

async function wantedOf(fp: Forkpoint): Promise<Holdings> {
  const environments = await fp.list()
  const snapshots = (await fp.snapshots()).map(({ lastInfo }) => lastInfo)
  const unready = snapshots.filter(({ status, proof }) => status !== 'ready' && proof !== 'failed')
  expect(unready, 'snapshots that are not done').toEqual([])
  const live = environments.filter(({ lastInfo }) =>
    ['running', 'paused'].includes(lastInfo.status),
  )
  const spares = (await fp.spares()).map(({ environment }) => environment)
  const ids = [...live.map(({ id }) => id), ...spares].sort()
  const paused = live.filter(({ lastInfo }) => lastInfo.status === 'paused').map(({ id }) => id)
  return {
    slots: ids,
    cgroups: ids,
    frozen: [...paused, ...spares].sort(),
    images: snapshots
      .filter(({ captured }) => captured.includes('processes'))
      .map(({ id }) => id)
      .sort(),
    files: snapshots
      .flatMap(({ id, sizes }) => [id, ...Object.keys(sizes.squashed ?? {}).flatMap(withMembers)])
      .sort(),
    strays: [],
    interfaces: live.filter(({ lastInfo }) => lastInfo.net.mode === 'nat').length,
  }
}

/** A squashed layer has a list of what it was made of next to it. */
function withMembers(layer: string): string[] {
  return [layer, `${layer}.members`]
}

function holdingsOf(home: TestHome): Holdings {
  const places = placesOf(home.path)
  const groups = dirname(cgroupDirs(detectLayout(), home.key, 'x')[0] ?? '')
  const cgroups = directoriesOf(groups)
  const subvolumes = entriesOf(places.files)
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
    files: [...entriesOf(places.layers), ...subvolumes]
      .filter((name) => isSnapshotId(name.split('.')[0]))
      // The next copy of a snapshot, made ahead.
      .filter(
        (name) => !subvolumes.includes(name.replace(/\.ahead$/, '')) || !name.endsWith('.ahead'),
      )
      .sort(),
    strays: subvolumes
      .filter((name) => !isSnapshotId(name.split('.')[0]))
      // It keeps a volume from promising more than the disk has.
      .filter((name) => name !== basename(ballastIn(places)))
      .filter((name) => !existsSync(join(places.envs, ...name.split('-')))),
    interfaces: remainsOf(home).interfaces.length,
  }
}

function environmentOf(cgroup: string): string {
  return cgroup.split('-')[0] ?? ''
}

/** One that is being removed is no longer frozen. */
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
    // It does not exist, or no longer does.
    return []
  }
}

function directoriesOf(dir: string): string[] {
  try {
    const entries = readdirSync(dir, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  } catch {
    // It does not exist, or no longer does.
    return []
  }
}
