import { findCriu } from '../../criu/criu.ts'
import { type KeptLogs, keptLogs } from '../../criu/kept-logs.ts'
import { nativeProgram } from '../../linux/native-program.ts'
import { Spawner } from '../../linux/spawner.ts'
import { type Tools, toolsOf } from '../../linux/tools.ts'
import { PrerequisiteError } from '../../model/errors.ts'
import type { BackendContext } from '../backend.ts'
import { type Places, placesOf } from './places.ts'

/** What every part of this backend works with. Disposing of it ends the process that starts others. */
export interface Plain extends Pick<BackendContext, 'exclusively'>, Disposable {
  readonly places: Places
  readonly tools: Tools
  readonly logs: KeptLogs
  readonly home: string
  /** how CRIU is started; throws if it is missing */
  criu(): readonly string[]
}

export function openPlain({ settings, exclusively }: BackendContext): Plain {
  const { home, runtime, native } = settings
  const places = placesOf(home)
  const spawner = new Spawner()
  return {
    exclusively,
    home,
    places,
    tools: toolsOf(spawner),
    logs: keptLogs(places.logs),
    // The library answers for the limits of processes of other users: see native/preload/limits.c.
    criu: () => [
      '/usr/bin/env',
      `LD_PRELOAD=${nativeProgram('limits.so')}`,
      ...findCriu({ criu: native.criu, runtime }).command,
    ],
    [Symbol.dispose]: () => spawner[Symbol.dispose](),
  }
}

export function requireRoot(): void {
  if (process.geteuid?.() === 0) return
  throw new PrerequisiteError('the criu backend must run as root to make namespaces and to dump', {
    remedy: 'run it with sudo',
  })
}
