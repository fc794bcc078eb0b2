import { schema } from './schema.ts'

/**
 * What Forkpoint reads and writes of CRIU's images: the names and numbers are those of CRIU 4.2. A
 * field that is missing here travels unseen.
 */

export const inventoryEntry = schema({ imgVersion: [1, 'uint32'] })

/** pstree.img */
export const pstreeEntry = schema({ pid: [1, 'uint32'], ppid: [2, 'uint32'] })

/** ids-PID.img */
export const taskKobjIdsEntry = schema({ filesId: [2, 'uint32'] })

/** fdinfo-ID.img */
export const fdinfoEntry = schema({ id: [1, 'uint32'], fd: [4, 'uint32'] })

/** files.img; of the messages it has the one of its type */
export const fileEntry = schema({
  type: [1, 'uint32'],
  id: [2, 'uint32'],
  reg: [3, 'message', 'optional'],
  isk: [4, 'message', 'optional'],
  tfd: [12, 'message', 'optional'],
  ify: [13, 'message', 'optional'],
  ffy: [14, 'message', 'optional'],
  usk: [16, 'message', 'optional'],
})

export const regFileEntry = schema({
  id: [1, 'uint32'],
  flags: [2, 'uint32'],
  /** uint64 to CRIU; up to 2^63 - 1, which is more than a number can count to */
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
  family: [3, 'uint32'],
  proto: [5, 'uint32'],
  state: [6, 'uint32'],
  srcPort: [7, 'uint32'],
  dstPort: [8, 'uint32'],
  srcAddr: [11, 'uint32', 'repeated'],
  dstAddr: [12, 'uint32', 'repeated'],
})

export const timerfdEntry = schema({
  ticks: [5, 'uint64'],
  vsec: [7, 'uint64'],
  vnsec: [8, 'uint64'],
  isec: [9, 'uint64'],
  insec: [10, 'uint64'],
})

export const inotifyFileEntry = schema({ wd: [5, 'message', 'repeated'] })

export const inotifyWdEntry = schema({ fHandle: [7, 'message'] })

export const fanotifyFileEntry = schema({ mark: [6, 'message', 'repeated'] })

export const fanotifyMarkEntry = schema({ ie: [7, 'message', 'optional'] })

export const fanotifyInodeMarkEntry = schema({ fHandle: [2, 'message'] })

/** a file handle, and where it leads if CRIU knows */
export const fhEntry = schema({ path: [4, 'name', 'optional'] })

export const unixSkEntry = schema({
  /** as the program gave it to bind, with whatever comes after its end; abstract if it begins with NUL */
  name: [11, 'name'],
  /** the directory that a relative one is in */
  nameDir: [14, 'name', 'optional'],
  deleted: [15, 'bool', 'optional'],
})

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

/** ghost-file-ID.img begins with it: a file that was deleted and is still open */
export const ghostFileEntry = schema({ mode: [3, 'uint32'] })

/** mountpoints-ID.img */
export const mntEntry = schema({
  mntId: [2, 'uint32'],
  /** as of mount(2) */
  flags: [5, 'uint32'],
  mountpoint: [7, 'name'],
})

/** seccomp.img: filters of system calls, all of them in one message */
export const seccompEntry = schema({ filters: [1, 'message', 'repeated'] })

export const seccompFilter = schema({
  /** instructions, as they were installed */
  filter: [1, 'message'],
  /** index of the one that was installed before; absent: it was the first */
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
  exeFileId: [12, 'uint32'],
  vmas: [14, 'message', 'repeated'],
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

/** pagemap-PID.img begins with it */
export const pagemapHead = schema({ pagesId: [1, 'uint32'] })

export const pagemapEntry = schema({
  vaddr: [1, 'uint64'],
  /** all that CRIU 4.1 has; 0 where nrPages is there */
  compatNrPages: [2, 'uint32'],
  inParent: [3, 'bool', 'optional'],
  flags: [4, 'uint32', 'optional'],
  nrPages: [5, 'uint64', 'optional'],
})
