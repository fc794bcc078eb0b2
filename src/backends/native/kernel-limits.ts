import { readFile, writeFile } from 'node:fs/promises'

/**
 * The kernel counts inotify instances of all environments as the host root's, who may have 128 by
 * default: some fifty environments with a dev server each. It is raised, never lowered.
 */
const inotifyInstances = '/proc/sys/fs/inotify/max_user_instances'
const enoughInstances = 8192

export async function raiseKernelLimits(): Promise<void> {
  if (Number(await readFile(inotifyInstances, 'utf8')) >= enoughInstances) return
  // A host that forbids it keeps its limit; programs inside are then told EMFILE.
  await writeFile(inotifyInstances, String(enoughInstances)).catch(() => {})
}
