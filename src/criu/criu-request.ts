import { make, schema } from './images/format/schema.ts'
import { pagesInside } from './memory/pages-files.ts'

/** The fields of CRIU's RPC messages that Forkpoint uses, numbered as in CRIU 4.2. */
const request = schema({ type: [1, 'uint32'], opts: [2, 'message'] })
const options = schema({
  imagesDirFd: [1, 'int32'],
  pid: [2, 'int32', 'optional'],
  leaveRunning: [3, 'bool', 'optional'],
  tcpEstablished: [5, 'bool'],
  fileLocks: [8, 'bool'],
  logLevel: [9, 'int32'],
  logFile: [10, 'string'],
  notifyScripts: [12, 'bool', 'optional'],
  root: [13, 'string', 'optional'],
  workDirFd: [17, 'int32', 'optional'],
  linkRemap: [18, 'bool'],
  manageCgroupsMode: [34, 'uint32'],
  tcpSkipInFlight: [46, 'bool', 'optional'],
  ghostLimit: [35, 'uint32', 'optional'],
  external: [37, 'string', 'repeated'],
  emptyNs: [38, 'uint32'],
  freezeCgroup: [44, 'string', 'optional'],
  configFile: [51, 'string'],
  networkLock: [64, 'uint32', 'optional'],
  imagesDir: [68, 'string'],
})

const types = { dump: 1, restore: 2 } as const
const ignoreCgroups = 0
const skipNetworkLock = 3
const cloneNewNet = 0x40000000
/** Where CRIU finds the mounts that `cell worker` made, and the descriptor of its log directory. */
const stage = '/stage'
const workDirectory = 100

/** The mounts that we provide, by their names in CRIU's images. */
const externalMounts = {
  root: '/',
  dev: '/dev',
  run: '/run/forkpoint',
  pages: pagesInside,
} as const

const common = {
  imagesDirFd: -1,
  configFile: '/tmp/criu.conf',
  logLevel: 1,
  manageCgroupsMode: ignoreCgroups,
  emptyNs: cloneNewNet,
  fileLocks: true,
  tcpEstablished: true,
  linkRemap: true,
}

/** `cgroup` is frozen and stays frozen. */
export function dumpRequest(dump: {
  readonly pid: number
  readonly images: string
  readonly cgroup: string
}): Uint8Array {
  const mounts = Object.entries(externalMounts).map(([name, at]) => `mnt[${at}]:${name}`)
  const opts = make(options, {
    ...common,
    pid: dump.pid,
    imagesDir: dump.images,
    logFile: 'dump.log',
    leaveRunning: true,
    freezeCgroup: dump.cgroup,
    ghostLimit: 64 * 1024 ** 2,
    networkLock: skipNetworkLock,
    // Connections that nobody has accepted are made again, see images/tcp/put-back.ts.
    tcpSkipInFlight: true,
    external: mounts,
  })
  return make(request, { type: types.dump, opts })
}

export function restoreRequest(images: string): Uint8Array {
  const opts = make(options, {
    ...common,
    imagesDir: images,
    logFile: 'restore.log',
    workDirFd: workDirectory,
    root: `${stage}/root`,
    notifyScripts: true,
    external: Object.keys(externalMounts).map((name) => `mnt[${name}]:${stage}/${name}`),
  })
  return make(request, { type: types.restore, opts })
}
