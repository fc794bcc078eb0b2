import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DumpImages } from '../../../criu/images/dump-images.ts'
import { neededPages } from '../../../criu/memory/needed-pages.ts'
import { linkPages } from '../../../criu/memory/pages-files.ts'
import type { DumpInFiles } from '../../../criu/memory/share-dump.ts'
import type { Verdicts } from '../../../criu/memory/verdicts.ts'
import { outcomeName, planName } from '../../../criu/remap/outcome.ts'
import { formatPlan, planRemap } from '../../../criu/remap/plan-remap.ts'
import { pidsInside } from '../../../criu/tracking/baseline.ts'
import { namesIn } from '../../../linux/files/names-in.ts'
import { rename, rm, writeFile } from '../../../linux/files/quick-fs.ts'
import { processesIn } from '../../../linux/processes-in.ts'
import type { Native } from '../native.ts'
import type { Subject } from './take-processes.ts'

/**
 * Says what the processes of a frozen life are to map from the new files of its snapshot, once they
 * continue (see native/cell/remap). If that is impossible, the next dump is a full one.
 */
export async function prepareRemap(
  native: Native,
  subject: Subject,
  dumped: DumpImages,
  shared: DumpInFiles,
): Promise<void> {
  const { dir } = native.places.slot(subject.id, subject.instance.slot)
  await rm(join(dir, outcomeName), { force: true })
  await rm(join(dir, planName), { force: true })
  try {
    await writePlan(native, subject, dumped, shared)
  } catch (error) {
    native.log.warn({ id: subject.id, err: error }, 'memory cannot be mapped from the snapshot')
  }
}

/**
 * Why the processes cannot map their memory; null if they can. Some memory has to be searched first, which
 * takes 0.6 s for 1 GB, and nothing must run until they have mapped it.
 */
export function whyNotMapped(verdicts: Verdicts): string | null {
  const searched = [...verdicts.values()].find(({ reached }) =>
    reached.some(({ reach }) => reach === 'held'),
  )
  if (searched === undefined) return null
  return `the memory of ${searched.command} has to be searched, which takes too long for the stop`
}

/** For the record of the next snapshot. */
export async function noteNotMapped(
  { places }: Native,
  { id, instance }: Subject,
  why: string,
): Promise<void> {
  const { dir } = places.slot(id, instance.slot)
  await writeFile(join(dir, outcomeName), why)
}

/** The files get names where the life sees those it maps. The plan comes last: without it nothing happens. */
async function writePlan(
  native: Native,
  { id, instance, snapshot }: Subject,
  dumped: DumpImages,
  { images }: DumpInFiles,
): Promise<void> {
  const { places } = native
  const { dir, pages } = places.slot(id, instance.slot)
  const [cgroup] = native.cgroups(id, instance.slot)
  const runs = planRemap(dumped, images)
  const names = [...new Set(runs.map(({ name }) => name))]
  const missing = names.filter((name) => !existsSync(join(pages, name)))
  for (const name of missing) await linkPages([places.pages(snapshot)], name, pages)
  const onHost = [...pidsInside(processesIn(cgroup))].map(([pid, inside]) => [inside, pid] as const)
  await writeFile(join(dir, `${planName}.new`), formatPlan(runs, new Map(onHost)))
  await rename(join(dir, `${planName}.new`), join(dir, planName))
}

/** Removes the names of pages files that the life no longer maps. `dumped`: as it was before. */
export async function dropUnmapped(
  { places }: Native,
  { id, instance, snapshot }: Subject,
  dumped: DumpImages,
): Promise<void> {
  const { dir, pages } = places.slot(id, instance.slot)
  await rm(join(dir, planName), { force: true })
  const needed = neededPages(dumped)
  const isOld = (name: string) =>
    !needed.has(name) && !existsSync(join(places.pages(snapshot), name))
  for (const name of namesIn(pages).filter(isOld)) await rm(join(pages, name), { force: true })
}
