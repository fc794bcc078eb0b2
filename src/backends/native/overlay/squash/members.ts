import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import * as z from 'zod/mini'
import type { Layer } from '../../cell/cell.ts'
import type { Squash } from './plan.ts'

/** Ends the name of a file next to a squashed layer, which lists the names of its members, topmost first. */
export const membersSuffix = '.members'

const memberNames = z.array(z.string())

export async function writeMembers({ layer, members }: Squash): Promise<void> {
  const names = members.map(({ path }) => basename(path))
  await writeFile(layer.path + membersSuffix, JSON.stringify(names), { flush: true })
}

/** Null for a layer that was not squashed. */
export function readMembers({ path }: Layer): Layer[] | null {
  try {
    const names = memberNames.parse(JSON.parse(readFileSync(path + membersSuffix, 'utf8')))
    return names.map((name) => ({ path: join(dirname(path), name), ids: 'cell' }))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
