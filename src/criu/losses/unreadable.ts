import type { Lost } from '../../model/snapshot.ts'
import type { Attribute } from '../images/attributes.ts'
import type { Verdicts } from '../memory/verdicts.ts'

/** These belong to all processes. */
const ofNobody = new Set(['queue', 'notify-lost'])

type Described = Omit<Lost, 'process'>

/** What native/cell/attributes could not read, or nobody can make again. */
export function unreadable(attributes: readonly Attribute[], verdicts: Verdicts): Lost[] {
  return attributes.flatMap((attribute): Lost[] => {
    const lost = described(attribute)
    if (lost === null) return []
    if (ofNobody.has(attribute.word)) return [{ process: null, ...lost }]
    const { process: pid } = attribute
    return [{ process: { pid, command: verdicts.get(pid)?.command ?? '?' }, ...lost }]
  })
}

function described({ word, number, value }: Attribute): Described | null {
  switch (word) {
    case 'backlog-lost':
      return {
        object: `the connections to its socket ${number} that it has not accepted yet`,
        what: 'are closed',
        consequence: 'their clients must connect again',
      }
    case 'half-lost':
      return {
        object: `the half of a datagram in its socket ${number}`,
        what: 'is gone',
        consequence: 'the other half is sent alone',
      }
    case 'unread-lost':
      return {
        object: `the unread messages of the kernel in its netlink socket ${number}`,
        what: 'are gone',
        consequence: 'the program does not learn what they say, and may have to ask again',
      }
    case 'future-lost':
      return {
        object: 'its call of mlockall, if it has made one for memory that it maps later',
        what: 'holds for what it has mapped so far',
        consequence: 'memory that it maps from now on is not locked',
      }
    case 'undo-lost':
      return {
        object: 'what it would undo with System V semaphores (SEM_UNDO)',
        what: 'is forgotten, if there is any',
        consequence: 'if it ends while it holds a semaphore, nobody releases that',
      }
    case 'notify-lost':
      return {
        object: `the notification of the next message in the POSIX queue ${queueName(value)}`,
        what: 'is gone',
        consequence: 'the program is not told, and must ask again',
      }
    case 'queue':
      return lostQueue(value)
    default:
      return null
  }
}

function queueName(hex: string): string {
  return `/${Buffer.from(hex, 'hex').toString()}`
}

function lostQueue(value: string): Described | null {
  const [name = '', state] = value.split(' ')
  if (state !== 'lost') return null
  return {
    object: `the messages in the POSIX queue ${queueName(name)}`,
    what: 'are gone',
    consequence: 'programs that wait for them continue to wait',
  }
}
