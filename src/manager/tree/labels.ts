// How virtual snapshots are stored: as labels of the physical snapshot that their replay begins at. So
// they reach the store through the public API, survive a restart, and vanish with that snapshot.
import { randomBytes } from 'node:crypto'
import * as z from 'zod/mini'
import { BackendError } from '../../model/errors.ts'
import type { SnapshotId } from '../../model/ids.ts'
import { quote } from '../../model/text/quote.ts'
import { loggedCommand } from '../replay/logged-command.ts'
import type { VirtualSnapshot } from './nodes.ts'

export const label = {
  /** of a snapshot or an environment: the manager's main environment */
  session: 'forkpoint.session',
  /** of an environment: the branch that it is */
  branch: 'forkpoint.branch',
  /** of a physical snapshot: the virtual one that it continues from */
  parent: 'forkpoint.parent',
  /** of a physical snapshot: the virtual one that was replayed into it */
  replayOf: 'forkpoint.replay-of',
  /** of a physical snapshot: a hook failed, so that it has no counterpart outside */
  half: 'forkpoint.half',
  /** of an environment: a virtual snapshot is being replayed in it */
  replaying: 'forkpoint.replaying',
} as const

const prefix = 'forkpoint.virtual.'
/** The API accepts labels of up to 4096 characters, 1000 in one call. */
const chunkLength = 4096
const mostChunks = 1000

const stored = z.object({
  name: z.nullable(z.string()),
  message: z.string(),
  parent: z.string(),
  createdAt: z.number(),
  commands: z.array(loggedCommand),
})

export function newVirtualId(): string {
  return `v${randomBytes(7).toString('hex').slice(0, 11)}`
}

export function isVirtualId(id: string): boolean {
  return /^v[0-9a-f]{11}$/.test(id)
}

/** The labels that hold a virtual snapshot; null if it is too long for them. */
export function labelsOf(node: Omit<VirtualSnapshot, 'bytes'>): Record<string, string> | null {
  const { name, message, parent, createdAt, commands } = node
  const text = ascii(JSON.stringify({ name, message, parent, createdAt, commands }))
  const count = Math.ceil(text.length / chunkLength)
  if (count > mostChunks) return null
  const chunks = Array.from({ length: count }, (_, index) => [
    `${prefix}${node.id}.${index}`,
    text.slice(index * chunkLength, (index + 1) * chunkLength),
  ])
  return Object.fromEntries(chunks)
}

/** The virtual snapshots that these labels of a physical one hold. */
export function virtualIn(
  on: SnapshotId,
  labels: Readonly<Record<string, string>>,
): VirtualSnapshot[] {
  const chunks = new Map<string, string[]>()
  for (const [key, value] of Object.entries(labels)) {
    const [, id, index] = /^forkpoint\.virtual\.(v[0-9a-f]{11})\.(\d{1,3})$/.exec(key) ?? []
    if (id === undefined || index === undefined) continue
    const list = chunks.get(id) ?? []
    list[Number(index)] = value
    chunks.set(id, list)
  }
  return Array.from(chunks, ([id, list]) => parseVirtual(on, id, list.join('')))
}

function parseVirtual(on: SnapshotId, id: string, text: string): VirtualSnapshot {
  try {
    const { commands, ...rest } = stored.parse(JSON.parse(text))
    return { kind: 'virtual', id, on, ...rest, commands, bytes: text.length }
  } catch (error) {
    throw new BackendError(
      `the labels of snapshot ${on} that hold virtual snapshot ${quote(id)} cannot be read`,
      { remedy: `remove the labels ${prefix}${id}.* of ${on}`, cause: error },
    )
  }
}

/** Cutting such text never splits a character. */
function ascii(json: string): string {
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
