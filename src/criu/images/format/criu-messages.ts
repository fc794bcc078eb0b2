import { schema } from './schema.ts'

/**
 * The parts of CRIU's images that Forkpoint reads and writes, with the names and numbers of CRIU 4.2.
 * Fields that are not listed here are kept as they are.
 */

export const inventoryEntry = schema({ imgVersion: [1, 'uint32'] })

/** pstree.img */
export const pstreeEntry = schema({
  pid: [1, 'uint32'],
  ppid: [2, 'uint32'],
  pgid: [3, 'uint32'],
  sid: [4, 'uint32'],
  threads: [5, 'uint32', 'repeated'],
})

/** ids-PID.img */
export const taskKobjIdsEntry = schema({ filesId: [2, 'uint32'] })

/** tty-info.img */
export const ttyInfoEntry = schema({ id: [1, 'uint32'] })

/** fdinfo-ID.img */
export const fdinfoEntry = schema({ id: [1, 'uint32'], fd: [4, 'uint32'] })

/** files.img; an entry has only the message of its type */
export const fileEntry = schema({
  type: [1, 'uint32'],
  id: [2, 'uint32'],
  reg: [3, 'message', 'optional'],
  isk: [4, 'message', 'optional'],
  efd: [8, 'message', 'optional'],
  tfd: [12, 'message', 'optional'],
  ify: [13, 'message', 'optional'],
  ffy: [14, 'message', 'optional'],
  usk: [16, 'message', 'optional'],
  pipe: [18, 'message', 'optional'],
})

export const regFileEntry = schema({
  id: [1, 'uint32'],
  flags: [2, 'uint32'],
  /** uint64 in CRIU; up to 2^63 - 1, which a number cannot hold exactly */
  pos: [3, 'int64'],
  fown: [5, 'message', 'optional'],
  name: [6, 'name'],
  mntId: [7, 'sint32', 'optional'],
  size: [8, 'uint64', 'optional'],
  mode: [10, 'uint32', 'optional'],
})

export const fownEntry = schema({
  uid: [1, 'uint32'],
  euid: [2, 'uint32'],
  signum: [3, 'uint32'],
  pidType: [4, 'uint32'],
  pid: [5, 'uint32'],
})

export const inetSkEntry = schema({
  ino: [2, 'uint32'],
  family: [3, 'uint32'],
  proto: [5, 'uint32'],
  state: [6, 'uint32'],
  srcPort: [7, 'uint32'],
  dstPort: [8, 'uint32'],
  srcAddr: [11, 'uint32', 'repeated'],
  dstAddr: [12, 'uint32', 'repeated'],
})

/** at the start of tcp-stream-INODE.img, followed by the bytes of both queues */
export const tcpStreamEntry = schema({
  inqLen: [1, 'uint32'],
  /** the number of the next byte to come, after the end if that has come */
  inqSeq: [2, 'uint32'],
  /** sent or not, without the end */
  outqLen: [3, 'uint32'],
  /** the number of the next byte to be written, after the end if there is one */
  outqSeq: [4, 'uint32'],
  /** how many bits the other end's window is shifted by */
  sndWscale: [6, 'uint32'],
  /** not sent */
  unsqLen: [12, 'uint32', 'optional'],
  sndWnd: [14, 'uint32', 'optional'],
  rcvWnd: [16, 'uint32', 'optional'],
})

export const eventfdEntry = schema({ flags: [2, 'uint32'] })

export const timerfdEntry = schema({
  ticks: [5, 'uint64'],
  vsec: [7, 'uint64'],
  vnsec: [8, 'uint64'],
  isec: [9, 'uint64'],
  insec: [10, 'uint64'],
})

export const inotifyFileEntry = schema({ wd: [5, 'message', 'repeated'] })

export const inotifyWdEntry = schema({ ino: [2, 'int64'], fHandle: [7, 'message'] })

export const fanotifyFileEntry = schema({ mark: [6, 'message', 'repeated'] })

export const fanotifyMarkEntry = schema({ ie: [7, 'message', 'optional'] })

export const fanotifyInodeMarkEntry = schema({ fHandle: [2, 'message'] })

/** a file handle, and where it leads if CRIU knows */
export const fhEntry = schema({ path: [4, 'name', 'optional'] })

export const unixSkEntry = schema({
  ino: [2, 'uint32'],
  type: [3, 'uint32'],
  state: [4, 'uint32'],
  /** as the program passed it to bind, including bytes after its end; abstract if it begins with NUL */
  name: [11, 'name'],
  /** the directory that a relative name is in; see also noted/socket-names.ts */
  nameDir: [14, 'name', 'optional'],
  deleted: [15, 'bool', 'optional'],
})

export const pipeEntry = schema({ flags: [3, 'uint32'] })

/** filelocks.img */
export const fileLockEntry = schema({
  flag: [1, 'uint32'],
  type: [2, 'uint32'],
  pid: [3, 'int32'],
  fd: [4, 'int32'],
  start: [5, 'int64'],
  len: [6, 'int64'],
})

/** remap-fpath.img */
export const remapFilePathEntry = schema({
  origId: [1, 'uint32'],
  remapId: [2, 'uint32'],
  remapType: [3, 'uint32', 'optional'],
})

/** at the start of ghost-file-ID.img, a file that was deleted and is still open */
export const ghostFileEntry = schema({ mode: [3, 'uint32'], ino: [5, 'int64', 'optional'] })

/** mountpoints-ID.img */
export const mntEntry = schema({
  mntId: [2, 'uint32'],
  /** the device number, as the kernel keeps it */
  rootDev: [3, 'uint32'],
  /** as in mount(2) */
  flags: [5, 'uint32'],
  mountpoint: [7, 'name'],
})

/** seccomp.img: filters of system calls, all of them in one message */
export const seccompEntry = schema({ filters: [1, 'message', 'repeated'] })

export const seccompFilter = schema({
  /** instructions, as they were installed */
  filter: [1, 'message'],
  /** index of the one that was installed after it; absent: it was the last */
  prev: [2, 'uint32', 'optional'],
})

/** userns-ID.img */
export const usernsEntry = schema({
  uidMap: [1, 'message', 'repeated'],
  gidMap: [2, 'message', 'repeated'],
})

export const uidGidExtent = schema({
  first: [1, 'uint32'],
  lowerFirst: [2, 'uint32'],
  count: [3, 'uint32'],
})

/** mm-PID.img */
export const mmEntry = schema({
  /** where the heap (brk) starts and ends */
  startBrk: [6, 'uint64', 'optional'],
  brk: [7, 'uint64', 'optional'],
  exeFileId: [12, 'uint32'],
  vmas: [14, 'message', 'repeated'],
  /** as PR_GET_DUMPABLE says; 1: it is */
  dumpable: [15, 'int32', 'optional'],
})

export const vmaEntry = schema({
  start: [1, 'uint64'],
  end: [2, 'uint64'],
  /** in bytes */
  pgoff: [3, 'uint64'],
  /** the file's id in a file mapping */
  shmid: [4, 'uint64'],
  prot: [5, 'uint32'],
  flags: [6, 'uint32'],
  status: [7, 'uint32'],
  fd: [8, 'sint64'],
  /** bit n is the n-th advice of madvise */
  madv: [9, 'uint64', 'optional'],
  fdflags: [10, 'uint32', 'optional'],
})

/** at the start of pagemap-PID.img */
export const pagemapHead = schema({ pagesId: [1, 'uint32'] })

export const pagemapEntry = schema({
  vaddr: [1, 'uint64'],
  /** the only count in CRIU 4.1; 0 if nrPages is set */
  compatNrPages: [2, 'uint32'],
  inParent: [3, 'bool', 'optional'],
  flags: [4, 'uint32', 'optional'],
  nrPages: [5, 'uint64', 'optional'],
})

/** core-THREAD.img */
export const coreEntry = schema({
  mtype: [1, 'uint32'],
  /** only on x86-64 */
  threadInfo: [2, 'message', 'optional'],
  tc: [3, 'message', 'optional'],
  threadCore: [5, 'message', 'optional'],
  /** the same as `threadInfo`, on 64-bit ARM */
  threadInfoArm64: [8, 'message', 'optional'],
})

/** where the C library keeps the number of a thread: in `threadInfo` and `threadInfoArm64` alike */
export const threadNumberPlace = schema({ clearTidAddr: [1, 'uint64'] })

export const threadInfoX86 = schema({ gpregs: [2, 'message'] })

/** uint64 in CRIU; a result below zero is one of the largest of them */
export const userX86Regs = schema({ ax: [11, 'int64'], ip: [17, 'int64'], sp: [20, 'int64'] })

export const taskCoreEntry = schema({
  taskState: [1, 'uint32'],
  timers: [7, 'message', 'optional'],
  rlimits: [8, 'message', 'optional'],
  signalsShared: [10, 'message', 'optional'],
  loginuid: [13, 'uint32', 'optional'],
  oomScoreAdj: [14, 'int32', 'optional'],
})

/** in the order of their numbers */
export const taskRlimitsEntry = schema({ rlimits: [1, 'message', 'repeated'] })

/** uint64 in CRIU; no limit is the largest of them */
export const rlimitEntry = schema({ cur: [1, 'int64'], max: [2, 'int64'] })

export const taskTimersEntry = schema({
  real: [1, 'message'],
  virtual: [2, 'message'],
  profiling: [3, 'message'],
  posix: [4, 'message', 'repeated'],
})

export const itimerEntry = schema({ vsec: [3, 'uint64'], vusec: [4, 'uint64'] })

export const threadCoreEntry = schema({
  signalsOwn: [9, 'message', 'optional'],
  creds: [10, 'message', 'optional'],
  /** as in seccomp(2); 0: none, 2: filters */
  seccompMode: [11, 'uint32', 'optional'],
  /** index of the first one that was installed, in seccomp.img; the others follow by `prev` */
  seccompFilter: [12, 'uint32', 'optional'],
})

/** capabilities are in two words, the lower first */
export const credsEntry = schema({
  uid: [1, 'uint32'],
  gid: [2, 'uint32'],
  euid: [3, 'uint32'],
  egid: [4, 'uint32'],
  suid: [5, 'uint32'],
  sgid: [6, 'uint32'],
  fsuid: [7, 'uint32'],
  fsgid: [8, 'uint32'],
  capInh: [9, 'uint32', 'repeated'],
  capPrm: [10, 'uint32', 'repeated'],
  capEff: [11, 'uint32', 'repeated'],
  capBnd: [12, 'uint32', 'repeated'],
  groups: [14, 'uint32', 'repeated'],
  lsmProfile: [15, 'string', 'optional'],
  lsmSockcreate: [16, 'string', 'optional'],
  noNewPrivs: [18, 'uint32', 'optional'],
  capAmb: [19, 'uint32', 'repeated'],
})

export const signalQueue = schema({ signals: [1, 'message', 'repeated'] })
