import {
  c,
  type Noticing,
  noticing,
  type Refused,
  refused,
  type Unavailable,
  unavailable,
} from './program.ts'

/** Objects that CRIU refuses to dump, with the words of the refusal. They are not counted. */
export const refusedPrograms: readonly Refused[] = [
  refused(c('terminal-write', 'a full terminal'), /a terminal that is full/),
  refused(c('traced-child', 'a child that its parent debugs'), /it has a tracer/),
]

/** What a program can still notice, and why. They are not counted. */
export const noticingPrograms: readonly Noticing[] = [
  noticing(
    c('deleted-file-read', 'access time of a deleted file'),
    /access time/,
    'a dump reads it',
  ),
  noticing(c('deleted-file-opened', 'IN_OPEN of a deleted file'), /event 0x20/, 'a dump opens it'),
  noticing(
    c('watched-executable', 'IN_OPEN and IN_ACCESS of a program that runs'),
    /event 0x/,
    'a program that is new is read once, to judge it',
  ),
  noticing(
    c('deleted-name-times', 'times of a file whose name was deleted while it has another'),
    /time/,
    'CRIU gives it a name for the length of a dump',
  ),
  noticing(c('quiet-links', 'inotify on such a file'), /event 0x4/, 'the same'),
  noticing(c('tracked-memory', 'the flag uw in smaps'), /uw/, 'write tracking is a userfaultfd'),
  noticing(c('attached-segment', 'who attached System V memory'), /attach/, 'CRIU attaches it'),
  noticing(
    c('sendfile-whole', 'the count of sendfile'),
    /Message too long/,
    'a stop cuts it short',
  ),
  noticing(
    c('writev-many', 'the count of writev and sendmsg with many parts'),
    /Message too long/,
    'the same',
  ),
  noticing(
    c('send-in-time', 'the count of send on a socket with a time-out'),
    /Message too long/,
    'the same',
  ),
]

/** Objects that no process in a cell can have. */
export const unavailablePrograms: readonly Unavailable[] = [
  unavailable(c('file-access-notification', 'fanotify'), /fanotify_init.*Operation not permitted/),
  unavailable(c('memory-policy', 'set_mempolicy'), /set_mempolicy.*Operation not permitted/),
  unavailable(c('io-getevents', 'io_getevents'), /io_setup.*Function not implemented/),
]
