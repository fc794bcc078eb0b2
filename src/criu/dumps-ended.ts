import type { Tools } from '../linux/tools.ts'
import { BackendError } from '../model/errors.ts'

const longestSeconds = 120

/**
 * Waits for dumps into this directory that a killed process began. The environment's processes must not
 * run until CRIU has removed its code from them. Its worker keeps the directory locked until then.
 */
export async function dumpsEnded(tools: Tools, images: string): Promise<void> {
  const args = ['-w', String(longestSeconds), images, 'true']
  const { exitCode, stderr } = await tools.run('flock', args)
  if (exitCode === 0) return
  throw new BackendError(`a dump into ${images} did not end within ${longestSeconds} seconds`, {
    remedy: 'find out what keeps the process `criu dump` busy, then try again',
    detail: { exitCode, said: stderr.trim() },
  })
}
