import { mkdir } from '../../../linux/quick-fs.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import type { Places } from '../places.ts'

/**
 * The number and the directory of a new life: later than any before, also after a crash. Spares are
 * made beside the operations of their environment, so that two may begin in the same millisecond.
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
      // The end of the environment's last life took the directory above away.
      else if (code !== 'ENOENT') throw error
    }
  }
}
