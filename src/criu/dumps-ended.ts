import { runTool } from '../linux/run-tool.ts'
import { BackendError } from '../model/errors.ts'

const longestSeconds = 120

/**
 * Waits for dumps into this directory that a killed process began: until CRIU has taken its code out
 * of the environment's processes, they must not run. Its worker keeps the directory locked.
 */
export async function dumpsEnded(images: string): Promise<void> {
  const args = ['-w', String(longestSeconds), images, 'true']
  const { exitCode, stderr } = await runTool('flock', args)
  if (exitCode === 0) return
  throw new BackendError(`a dump into ${images} does not end`, {
    remedy: 'see what keeps the process `criu dump` busy, then try again',
    detail: { exitCode, said: stderr.trim() },
  })
}
