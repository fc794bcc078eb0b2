import type { Terminal, TerminalViewer } from '../../index.ts'
import type { Ended } from '../exec/exit-code.ts'
import { DetachKeys } from './detach-keys.ts'
import type { OwnTerminal } from './own-terminal.ts'

export type SessionEnd = { readonly kind: 'detached' } | ({ readonly kind: 'exited' } & Ended)

type Viewer = Pick<TerminalViewer, 'opened' | 'data' | 'write' | 'resize' | 'detach' | 'exit'>
type Inside = { attach(...options: Parameters<Terminal['attach']>): Promise<Viewer> }
type Outside = Pick<OwnTerminal, 'size' | 'onTyped' | 'onResize' | 'show' | 'clear'>

/** Connects the user's terminal to one inside. The viewer survives snapshots. */
export async function runSession(
  inside: Inside,
  own: Outside,
  signal: AbortSignal,
): Promise<SessionEnd> {
  const viewer = await open(inside, own)
  const keys = new DetachKeys()
  const detached = Promise.withResolvers<SessionEnd>()
  const onAbort = () => detached.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  using _typing = own.onTyped(async (data) => {
    const { pass, detach } = keys.type(data)
    // If the connection is lost for good, the output ends too, and that is reported.
    if (pass.length > 0) await viewer.write(pass).catch(() => {})
    if (detach) detached.resolve({ kind: 'detached' })
  })
  // The same goes for a resize.
  using _resizing = own.onResize((size) => void viewer.resize(size).catch(() => {}))
  try {
    return await Promise.race([showUntilExit(viewer, own), detached.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
    viewer.detach()
  }
}

async function open(inside: Inside, own: Outside): Promise<Viewer> {
  const { TERM, COLORTERM } = process.env
  const env: Record<string, string> = {}
  if (TERM) env.TERM = TERM
  if (COLORTERM) env.COLORTERM = COLORTERM
  const viewer = await inside.attach({ ...own.size, env })
  const { replayBytes } = await viewer.opened()
  // A replay draws the screen from its beginning, so it needs an empty one.
  if (replayBytes > 0) await own.clear()
  return viewer
}

async function showUntilExit(viewer: Viewer, own: Outside): Promise<SessionEnd> {
  const [ended] = await Promise.all([viewer.exit, showAll(viewer, own)])
  return { kind: 'exited', ...ended }
}

async function showAll(viewer: Viewer, own: Outside): Promise<void> {
  for await (const chunk of viewer.data()) await own.show(chunk)
}
