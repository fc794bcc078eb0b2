import { statfsSync } from 'node:fs'
import { socketName } from '../linux/socket-names.ts'

/** What CRIU cannot dump, and what to do about it. */
export interface Refusal {
  readonly object: string
  readonly remedy: string
  /**
   * `soon`: the program inside ends it by itself, in a moment. `outside`: a client of ours caused it.
   * Absent: somebody has to act.
   */
  readonly passes?: 'soon' | 'outside'
}

type Meaning = (match: RegExpExecArray, pid: number | null) => Refusal

const closeIt = 'close it or end that process, then try again; `--mode filesystem` needs neither'
const unless =
  'let the program do so and try again, or end that process; `--mode filesystem` needs neither'

/** Descriptors without a file, by the kernel's name for them. */
const anonymous: Readonly<Record<string, string>> = {
  io_uring: 'an io_uring',
  'bpf-map': 'a BPF map',
  'bpf-prog': 'a BPF program',
  bpf_link: 'a BPF link',
  btf: 'BPF type information',
  perf_event: 'a performance counter (perf)',
  fanotify: 'a fanotify group',
  userfaultfd: 'a userfaultfd',
  'landlock-ruleset': 'a Landlock ruleset',
  'seccomp notify': 'a seccomp listener',
  'kvm-vm': 'a virtual machine (KVM)',
  'kvm-vcpu': 'a virtual CPU (KVM)',
  dmabuf: 'a buffer of a device',
  sync_file: 'a fence of a device',
}

function anonymousObject([, kind = '']: RegExpExecArray): Refusal {
  return { object: anonymous[kind] ?? `a kernel object of kind ${kind}`, remedy: closeIt }
}

/** `inode` is in hexadecimal. */
function notAccepted(inode: string | undefined, pid: number | null): Refusal {
  const name = inode === undefined || pid === null ? null : socketName(pid, parseInt(inode, 16))
  return {
    object:
      name === null
        ? 'a connection that the program at its other end has not accepted yet'
        : `a connection to ${name} that the program listening there has not accepted yet`,
    remedy: unless,
    passes: 'soon',
  }
}

const messageQueues = 0x19800202

function onNoMount([, fd = '', path = '']: RegExpExecArray, pid: number | null): Refusal {
  const isQueue = pid !== null && typeOf(`/proc/${pid}/fd/${fd}`) === messageQueues
  const what = isQueue
    ? `descriptor ${fd}, the POSIX message queue ${path}`
    : `descriptor ${fd}, ${path}, which is on no mount of the environment`
  return { object: what, remedy: closeIt }
}

function typeOf(path: string): number | null {
  try {
    return statfsSync(path).type
  } catch {
    // The process has ended, or has closed it.
    return null
  }
}

export const attaching: Refusal = {
  object: 'a Unix socket whose other end is outside the environment',
  remedy:
    'a Forkpoint command was just attaching: try again; if it happens again, end that process',
  passes: 'outside',
}

/** What the messages of CRIU 4.2 mean, the most specific first. */
const meanings: readonly (readonly [RegExp, Meaning])[] = [
  [/\(anon anon_inode:\[?([\w -]+?)\]?\)/, anonymousObject],
  [
    /Unknown socket collected \(family (\d+)\)/,
    ([, family]) => ({ object: `a socket of address family ${family}`, remedy: closeIt }),
  ],
  [
    /unix: (?:Non-empty write queue on an|Found a closed) in-flight socket (?:to )?0x([0-9a-f]+)/,
    ([, inode], pid) => notAccepted(inode, pid),
  ],
  [/unix: (?:Dangling in-flight|In-flight) connection/, (_, pid) => notAccepted(undefined, pid)],
  [/inet: In-flight connection \(l\) for ([0-9a-f]+)/, ([, inode], pid) => notAccepted(inode, pid)],
  [
    /Can't dump corked dgram socket/,
    () => ({
      object: 'a UDP socket that holds data back (UDP_CORK)',
      remedy: unless,
      passes: 'soon',
    }),
  ],
  [
    /recv failed \(-?\d+, want \d+\)/,
    () => ({
      object: 'a TCP connection in which data arrived at that very moment',
      remedy: 'try again; if it happens again, let the program rest, or end that process',
      passes: 'soon',
    }),
  ],
  [
    /pidfd: PIDFD_THREAD flag/,
    () => ({ object: 'a descriptor of a thread (pidfd_open with PIDFD_THREAD)', remedy: closeIt }),
  ],
  [
    /netlink: The socket has data to read/,
    () => ({
      object: 'a netlink socket with messages of the kernel that it has not read yet',
      remedy: unless,
      passes: 'soon',
    }),
  ],
  [
    /Unix socket \d+ not found|Can't dump half of stream unix|external socket|unreachable peer/i,
    () => attaching,
  ],
  [
    /tty: ctty inheritance detected/,
    () => ({
      object: 'its terminal open as /dev/tty, which is not in /dev/pts',
      remedy: closeIt,
    }),
  ],
  [
    /tty: (?:Found slave peer|Unpaired slave|Can't find|Requested tty)/,
    () => ({ object: 'a terminal whose other end is outside the environment', remedy: closeIt }),
  ],
  [
    /Can't read data from tty .*Value too large/,
    () => ({
      object: 'a terminal that is full: 4 KiB or more wait in it to be read',
      remedy: unless,
      passes: 'soon',
    }),
  ],
  [/Can't lookup mount=\d+ for fd=(-?\d+) path=(.*)/, onNoMount],
  [
    /Can't dump ghost file (\S*).* size, increase limit/,
    ([, path]) => ({
      object: `the deleted but open file ${path}, which is larger than 64 MiB`,
      remedy: 'close it, or make it smaller, and try again; `--mode filesystem` needs neither',
    }),
  ],
  [
    /OOM storing pipe/,
    () => ({
      object: 'more than 1,024 pipes and FIFOs, which CRIU cannot dump',
      remedy:
        'close some of them, or end processes that hold them; `--mode filesystem` needs neither',
    }),
  ],
  [
    /Can't dump nested (pid|mnt|user) namespace|nested (pid|uts|ipc) namespace/i,
    () => ({ object: 'a namespace of its own', remedy: 'end that process, then try again' }),
  ],
  [
    /Can't dump file (-?\d+) of that type \[(\d+)\]/,
    ([, fd, mode]) => ({ object: `descriptor ${fd} of type ${mode}`, remedy: closeIt }),
  ],
]

/** The meaning of CRIU's words about this process (as the host sees it); null if we know none. */
export function meaningOf(log: string, pid: number | null): Refusal | null {
  for (const [words, meaning] of meanings) {
    const match = words.exec(log)
    if (match) return meaning(match, pid)
  }
  return null
}
