import type { Lost } from '../../model/snapshot.ts'
import type { Attribute } from '../images/attributes.ts'
import type { Verdicts } from '../memory/verdicts.ts'

type Words = Pick<Lost, 'object' | 'what' | 'consequence'>

/** By the word that native/cell/attributes/losses.c notes of a descriptor. */
const kinds: Readonly<Record<string, (descriptor: number, rest: string) => Words>> = {
  datagrams: (fd) => ({
    object: `the datagrams that wait in descriptor ${fd}`,
    what: 'are kept only in part',
    consequence: 'the rest is lost, as on a busy network',
  }),
  error: (fd) => ({
    object: `the error that waits in the socket ${fd}`,
    what: 'is forgotten',
    consequence: 'the program is not told that something it sent has failed',
  }),
  events: (fd) => ({
    object: `the unread events of the inotify descriptor ${fd}`,
    what: 'are lost',
    consequence: 'the program does not notice what has just happened to the files it watches',
  }),
  'events-told': (fd) => ({
    object: `the unread events of the inotify descriptor ${fd}`,
    what: 'are lost, and the program is told so (IN_Q_OVERFLOW)',
    consequence: 'it has to look at the files it watches',
  }),
  packets: (fd) => ({
    object: `the packets that wait in the raw socket ${fd}`,
    what: 'are lost',
    consequence: 'the program does not receive them',
  }),
  peer: (fd, ids) => ({
    object: `the connection of the Unix socket ${fd}`,
    what: `comes from root instead of user and group ${ids}`,
    consequence: 'SO_PEERCRED says so to a program that asks again',
  }),
  senders: (fd) => ({
    object: `the datagrams that wait in the Unix socket ${fd}`,
    what: 'come from nobody, or from another sender',
    consequence: 'the program cannot answer them, or answers the wrong one',
  }),
  urgent: (fd) => ({
    object: `the urgent byte that waits in the socket ${fd}`,
    what: 'is ordinary data, or lost',
    consequence: 'MSG_OOB does not receive it',
  }),
}

/** What was noted beside the dump. */
export function notedLosses(attributes: readonly Attribute[], verdicts: Verdicts): Lost[] {
  return attributes.flatMap(({ word, process, number, value }) => {
    const [kind = '', ...rest] = value.split(' ')
    const words = word === 'lost' && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
    if (words === undefined) return []
    const command = verdicts.get(process)?.command ?? '?'
    return { process: { pid: process, command }, ...words(number, rest.join(' and ')) }
  })
}
