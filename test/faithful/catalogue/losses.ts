import type { Losing } from './differing.ts'

/** What cannot be kept, and is listed in the record of the snapshot. */
export const losses: readonly Losing[] = [
  {
    programs: ['unread-events'],
    lines: [
      /^unread bytes was 96.*is 16/,
      /^watch was 1 .*is -1/,
      /^the events was …\+one\+two-one…, is …!…/,
    ],
    why: 'events cannot be made again, so the program is told that they are lost',
    lost: /unread events of the inotify descriptor \d+ are lost, and the program is told so/,
  },
  {
    programs: ['deleted-watched-file'],
    lines: [/^an event 0x400/],
    why: 'a copy watches the file again, and then deletes it again',
    lost: /inotify watch of a file that was deleted and is still open ends/,
  },
  {
    programs: ['unix-sender-address'],
    lines: [/^sender was/],
    why: 'CRIU sends them itself',
    lost: /datagrams that wait in the Unix socket \d+ come from nobody/,
  },
  {
    programs: ['unix-urgent-byte', 'tcp-urgent'],
    lines: [/^(the urgent byte|it|length of the message|the message) was/],
    why: 'CRIU reads it as data',
    lost: /urgent byte that waits in the socket \d+ is ordinary data/,
  },
  {
    programs: ['tcp-pending-error', 'udp-pending-error'],
    lines: [/^the error that waits was/],
    why: 'asking for it takes it away',
    lost: /error that waits in the socket \d+ is forgotten/,
  },
  {
    programs: ['raw-socket'],
    lines: [/recv\(fd, bytes, sizeof bytes, MSG_DONTWAIT\) > 0/],
    why: 'CRIU does not dump what waits there',
    lost: /packets that wait in the raw socket \d+ are lost/,
  },
  {
    programs: ['unnamed-file'],
    lines: [/linkat\(AT_FDCWD, from, AT_FDCWD, "named"/],
    why: 'only a file that never had a name can get one, and it had one while it was made again',
    lost: /opened without a name \(O_TMPFILE\) stays without one/,
  },
  {
    programs: ['owner-of-proc'],
    lines: [/^(owner|group) was 0/],
    why: 'the kernel asks where the program was executed, and that was not in the copy',
    lost: /directory in \/proc belongs to nobody/,
  },
  {
    programs: ['peer-credentials'],
    lines: [/^(process|user|group) was/],
    why: 'CRIU connects both ends itself',
    lost: /connection of the Unix socket \d+ comes from root instead of user and group 44 and 55/,
  },
  {
    programs: ['java'],
    lines: [
      /^the handle says that the child is gone/,
      /^the child (has another start time|is another one|cannot be ended|does not end)/,
    ],
    why: 'processes of a copy are new, and Java knows them by the time at which they began',
    lost: /knowledge of its children is out of date/,
  },
]
