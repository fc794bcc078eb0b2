import type { Shell, TerminalHandle } from '../../index.ts'
import type { Ended } from '../exec/exit-code.ts'
import { isConnectionLost, reconnect } from '../reconnect.ts'
import { DetachKeys } from './detach-keys.ts'
import type { OwnTerminal } from './own-terminal.ts'

export type SessionEnd = { readonly kind: 'detached' } | ({ readonly kind: 'exited' } & Ended)

type Viewer = Pick<TerminalHandle, 'opened' | 'data' | 'write' | 'resize' | 'detach' | 'exit'>
type Inside = { attach(...options: Parameters<Shell['attach']>): Promise<Viewer> }
type Outside = Pick<OwnTerminal, 'size' | 'onTyped' | 'onResize' | 'show' | 'clear'>

/** Joins the user's terminal and one inside, over as many connections as that takes. */
export async function runSession(
  inside: Inside,
  own: Outside,
  signal: AbortSignal,
): Promise<SessionEnd> {
  const keys = new DetachKeys()
  let viewer = await open(inside, own)
  for (;;) {
    try {
      return await view(viewer, keys, own, signal)
    } catch (error) {
      if (!isConnectionLost(error)) throw error
      viewer = await reconnect(() => open(inside, own), signal)
    }
  }
}

async function open(inside: Inside, own: Outside) {
  const { TERM, COLORTERM } = process.env
  const env = { ...(TERM && { TERM }), ...(COLORTERM && { COLORTERM }) }
  const viewer = await inside.attach({ ...own.size, env })
  const { replayBytes } = await viewer.opened()
  // A replay draws the screen from its beginning, so it needs an empty one.
  if (replayBytes > 0) await own.clear()
  return viewer
}

async function view(
  viewer: Viewer,
  keys: DetachKeys,
  own: Outside,
  signal: AbortSignal,
): Promise<SessionEnd> {
  const detached = Promise.withResolvers<SessionEnd>()
  const onAbort = () => detached.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  using _typing = own.onTyped(async (data) => {
    const { pass, detach } = keys.type(data)
    // A lost connection shows in the output as well, and is dealt with there.
    if (pass.length > 0) await viewer.write(pass).catch(() => {})
    if (detach) detached.resolve({ kind: 'detached' })
  })
  using _resizing = own.onResize((size) => void viewer.resize(size).catch(() => {}))
  try {
    return await Promise.race([showUntilExit(viewer, own), detached.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
    viewer.detach()
  }
}

async function showUntilExit(viewer: Viewer, own: Outside): Promise<SessionEnd> {
  const [ended] = await Promise.all([viewer.exit, showAll(viewer, own)])
  return { kind: 'exited', ...ended }
}

async function showAll(viewer: Viewer, own: Outside): Promise<void> {
  for await (const chunk of viewer.data()) await own.show(chunk)
}
