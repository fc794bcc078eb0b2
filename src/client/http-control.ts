import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { connectPath, filledPath, streamRoutes } from '../api/contract/routes.ts'
import type { Control } from '../api/control.ts'
import { type Address, formatAddress } from './address.ts'
import { followEvents } from './events.ts'
import { perform } from './link/perform.ts'
import type { Link } from './link/send-operation.ts'
import { requestFor } from './link/sent.ts'
import { Requester } from './requester.ts'
import { openSocket } from './socket.ts'
import { checkedStream } from './stream.ts'
import { type TransportOptions, transport } from './transport.ts'

/** Sends every operation to a daemon. */
export async function httpControl(
  address: Address,
  options: TransportOptions = {},
): Promise<Control> {
  const carrier = await transport(address, options)
  const requester = new Requester(carrier)
  const closed = new AbortController()
  const link: Link = {
    where: formatAddress(address),
    json: (sent) => requester.send(sent, answerIn),
    newKey: randomUUID,
  }
  return {
    call: (name, input, call) => perform(link, name, input, call),
    stream: async (name, input, { signal } = {}) => {
      const sent = requestFor(streamRoutes[name], input)
      const asked = { ...sent, signal, headers: { te: 'trailers' } }
      return await requester.send(asked, async (answer) => checkedStream(answer))
    },
    events: (wanted) => followEvents(requester, closed.signal, wanted),
    connect: async (id, { signal } = {}) =>
      await requester.retried('no', signal, () =>
        openSocket(
          carrier,
          filledPath(connectPath, () => id),
          signal,
        ),
      ),
    [Symbol.asyncDispose]: async () => {
      closed.abort()
      carrier.close()
    },
  }
}

async function answerIn(response: IncomingMessage): Promise<unknown> {
  if (response.statusCode !== 204) return await json(response)
  response.resume()
  return null
}
