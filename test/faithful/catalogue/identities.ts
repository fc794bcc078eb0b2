import type { Differing } from './differing.ts'

/** A line of a text before and after. Groups of the first can be repeated in the second. */
const line = (before: string, after: string) => new RegExp(`: "${before}" is "${after}"$`)

/** Numbers and times that the kernel gives to what is made anew. */
export const identities: readonly Differing[] = [
  {
    programs: [
      'new-files',
      'lower-files',
      'copied-up-files',
      'open-new',
      'open-lower',
      'open-copied-up',
      'open-directory',
      'open-path-only',
      'opened-before-copy-up',
      'hard-links',
      'lower-hard-link',
      'deleted-file',
      'deleted-name',
      'file-handle',
    ],
    lines: [/^mount( id of .*)? was/],
    why: 'a copy has mounts of its own',
  },
  {
    programs: ['descriptor-details', 'listed-locks'],
    lines: [
      line('mnt_id:\\t\\d+', 'mnt_id:\\t\\d+'),
      line('(lock:.*) [0-9a-f:]+(:\\d+ .*)', '\\1 [0-9a-f:]+\\2'),
    ],
    why: 'the same',
  },
  {
    programs: ['file-handle'],
    lines: [/memcmp\(was\.bytes/],
    why: 'the files of a copy are in a volume of their own',
  },
  {
    programs: ['pipe-contents', 'unix-stream', 'unix-datagram', 'unix-packet', 'memory-file'],
    lines: [/^inode (of the (pipe|socket) )?was/],
    why: 'the kernel numbers it anew',
  },
  {
    programs: ['process-descriptor'],
    lines: [line('ino:\\t\\d+', 'ino:\\t\\d+')],
    why: 'the same',
  },
  { programs: ['unix-options', 'tcp-cookie'], lines: [/^cookie was/], why: 'the same' },
  {
    programs: ['namespaces', 'namespace-descriptor'],
    lines: [/^namespace was/, /^inode was 402/],
    why: 'the same',
  },
  {
    programs: ['status'],
    lines: [line('FDSize:\\t\\d+', 'FDSize:\\t\\d+')],
    why: 'the kernel makes room for descriptors as it likes',
  },
  {
    programs: ['terminal-identity'],
    lines: [/^device was/, /^change time was/],
    why: 'a copy has terminals of its own',
  },
  {
    programs: ['unix-listener'],
    lines: [/^(inode|change time) of its name was/],
    why: 'it is bound again',
  },
  { programs: ['memory-file'], lines: [/^change time was/], why: 'it is written again' },
  {
    programs: ['deleted-file', 'deleted-directory', 'unnamed-file'],
    lines: [
      /^change time was/,
      /^(st_dev|st_ino|birth time) of the deleted file was/,
      /^st_ctime of its directory was/,
      /^inode (of the working directory )?was/,
      /^device of the working directory was/,
    ],
    why: 'what has no name is made again',
  },
  {
    programs: ['machine'],
    lines: [
      /^credentials\.c:\d+: not so: memcmp\(&was, &is/,
      /^machine id was/,
      /^time of booting was/,
      /^offsets of clocks was/,
    ],
    why: 'each fork is a computer of its own, and its clocks go on from the snapshot',
  },
  {
    programs: ['start-times', 'zombie', 'stat-fields', 'python-child'],
    lines: [/start time.* was/, /^field (9|22) of stat was/, /^the child was/],
    why: 'processes of a copy are new',
  },
  {
    programs: ['shared-segment', 'semaphores', 'messages'],
    lines: [/^(maker|last process|last sender|time of .*) was/],
    why: 'CRIU makes them again, as process 1',
  },
]
