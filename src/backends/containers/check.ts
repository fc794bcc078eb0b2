import * as z from 'zod/mini'
import { ForkpointError } from '../../model/errors.ts'
import type { Check } from '../backend.ts'
import { requireExperimental } from './experimental.ts'
import type { Room } from './room.ts'

const versionSchema = z.object({ Version: z.string() })

/** A machine without the engine can still use the other backends, so that is only a warning. */
export async function checkEngine(room: Room): Promise<readonly Check[]> {
  const name = `${room.kind.name} engine`
  try {
    const client = room.client()
    const { Version } = await client.json(versionSchema, {
      method: 'GET',
      path: '/version',
      timeoutMs: 10_000,
    })
    await requireExperimental(room)
    return [{ name, status: 'ok', found: `version ${Version} at ${client.where}` }]
  } catch (error) {
    if (!(error instanceof ForkpointError)) throw error
    const { message: found, remedy = room.kind.remedy } = error
    return [{ name, status: 'warn', found, remedy }]
  }
}
