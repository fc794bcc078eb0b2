import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../../index.ts'
import { NotFoundError } from '../../model/errors.ts'
import type { Interrupts } from '../interrupts.ts'

const lookEveryMs = 500

/** Waits until somebody interrupts, or the environment is gone: then says what became of it. */
export async function untilGone(
  environment: Environment,
  interrupts: Interrupts,
): Promise<'interrupted' | 'removed' | 'dead'> {
  while (!interrupts.signal.aborted) {
    await Promise.race([sleep(lookEveryMs), interrupts.arrived])
    const end = await endOf(environment)
    if (end !== null) return end
  }
  return 'interrupted'
}

async function endOf(environment: Environment): Promise<'removed' | 'dead' | null> {
  try {
    const { status } = await environment.info()
    if (status === 'removing') return 'removed'
    return status === 'dead' ? 'dead' : null
  } catch (error) {
    if (error instanceof NotFoundError) return 'removed'
    throw error
  }
}
