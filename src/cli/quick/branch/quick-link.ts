import type { Link } from '../../../client/link/send-operation.ts'
import { socketRetrier } from '../../../client/link/socket-retrier.ts'
import { errorFromJson } from '../../../model/errors.ts'
import { type Asked, askOnce, Refused } from '../ask.ts'

/** A daemon behind a Unix socket, asked again if the connection is lost, without a client for HTTP. */
export function quickLink(path: string): Link {
  const retried = socketRetrier({ kind: 'unix', path })
  return {
    where: `unix://${path}`,
    json: (sent) =>
      retried(sent.method === 'GET' ? 'no' : 'maybe', sent.signal, () => askedOnce(path, sent)),
    newKey,
  }
}

async function askedOnce(path: string, asked: Asked): Promise<unknown> {
  try {
    return await askOnce(path, asked)
  } catch (error) {
    throw error instanceof Refused ? errorFromJson(error.error) : error
  }
}

/** Only has to differ from those of the same day. Loading what makes better ones takes 3 ms (measured). */
function newKey(): string {
  return [process.pid, Date.now(), Math.random(), Math.random()].join('-')
}
