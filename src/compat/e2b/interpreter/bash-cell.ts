import { StringDecoder } from 'node:string_decoder'
import type { Environment } from '../../../api/handles/environment.ts'
import { type Context, shellOf } from './contexts.ts'
import type { KernelRequest, Listener } from './kernel-session.ts'

/** Runs code in the persistent shell of a context, which is one of the environment's own. */
export async function runBash(
  environment: Environment,
  context: Context,
  { code, envs }: KernelRequest,
  listener: Listener,
  signal: AbortSignal,
): Promise<void> {
  const said = (type: 'stdout' | 'stderr') => {
    const decoder = new StringDecoder('utf8')
    return async (chunk: Buffer) => {
      const text = decoder.write(chunk)
      if (text !== '') await listener({ type, text })
    }
  }
  const { exitCode, signal: ended } = await environment.exec(code, {
    shell: shellOf(context),
    onStdout: said('stdout'),
    onStderr: said('stderr'),
    signal,
    ...(envs && { env: envs }),
  })
  if (exitCode === 0) return
  const value = exitCode === null ? `ended by ${ended}` : `exit status ${exitCode}`
  await listener({ type: 'error', name: 'ExitError', value, traceback: value })
}
