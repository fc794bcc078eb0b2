import type { Environment } from '../../index.ts'
import { type Forwarded, formatAddress } from '../arguments/port-address.ts'
import type { Context } from '../context.ts'
import type { Interrupts } from '../interrupts.ts'
import { labelOf } from '../render/environment.ts'
import { say } from '../write.ts'
import { untilGone } from './until-gone.ts'

/** One port of the host that leads inside, as it is shown. */
export interface Forwarding {
  readonly port: number
  readonly host: string
  readonly listenPort: number
  readonly address: string
}

/** Forwards ports, shows where, and does so until it is interrupted or the environment is gone. */
export async function forwardPorts(
  context: Context,
  environment: Environment,
  wanted: readonly Forwarded[],
  interrupts: Interrupts,
  show: (forwards: readonly Forwarding[]) => Promise<void>,
): Promise<void> {
  await using open = new AsyncDisposableStack()
  const forwards: Forwarding[] = []
  for (const { port, ...listen } of wanted) {
    const { host, port: listenPort } = open.use(await environment.ports.forward(port, listen))
    forwards.push({ port, host, listenPort, address: formatAddress(host, listenPort) })
  }
  await show(forwards)
  const end = await untilGone(environment, interrupts)
  if (end === 'interrupted') return
  const what = end === 'dead' ? 'has died' : 'was removed'
  await say(context.streams.stderr, `${labelOf(environment)} ${what}; its ports are closed\n`)
}
