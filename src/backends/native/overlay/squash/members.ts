import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Layer } from '../../cell/cell.ts'
import type { Merge } from './plan.ts'

/** Beside a merged layer, what it was made of: names, topmost first. */
export const membersSuffix = '.members'

export async function writeMembers({ layer, members }: Merge): Promise<void> {
  const names = members.map(({ path }) => basename(path))
  await writeFile(layer.path + membersSuffix, JSON.stringify(names), { flush: true })
}

/** Null for a layer that was not merged. */
export function readMembers({ path }: Layer): Layer[] | null {
  try {
    const names = JSON.parse(readFileSync(path + membersSuffix, 'utf8')) as string[]
    return names.map((name) => ({ path: join(dirname(path), name), ids: 'cell' }))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
