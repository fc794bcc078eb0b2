import { mkdir } from '../../../linux/files/quick-fs.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import type { Places } from '../places.ts'

/**
 * Takes a number and a directory for a new life. The number is higher than any before, even after a crash.
 * Spares are made while operations run, so two lives may begin in the same millisecond.
 */
export async function takeSlot(places: Places, id: EnvironmentId): Promise<number> {
  for (let slot = Date.now(); ; ) {
    await mkdir(places.env(id), { recursive: true })
    try {
      await mkdir(places.slot(id, slot).dir)
      return slot
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') slot += 1
      // ENOENT: the end of the environment's last life has just removed the directory above.
      else if (code !== 'ENOENT') throw error
    }
  }
}
