import * as z from 'zod/mini'
import { memoryModes, netModes } from '../model/environment.ts'
import { logLevels } from '../model/log.ts'
import { wakeModes } from '../model/policy.ts'
import { imageTools, trackingKinds, volumeKinds } from '../model/settings.ts'
import { cidrPrefix } from '../model/values/cidr.ts'
import {
  parseBytes,
  parseCount,
  parseCpus,
  parseDiskLimit,
  parseIoRate,
  parseMemoryLimit,
  parseNetRate,
  parsePids,
  parseTimeout,
  parseWhole,
} from '../model/values/quantities.ts'
import { defaultMask } from './default-mask.ts'
import {
  absolutePath,
  cidr,
  flag,
  maskPatterns,
  orNone,
  parsed,
  storagePath,
  templates,
  type ValueType,
} from './values.ts'

/** What defaults may depend on. The caller supplies it, so that the table does no I/O. */
export interface HostFacts {
  /** memory of this machine that Forkpoint may use */
  readonly memoryBytes: number
}

export interface Setting<T> {
  readonly type: ValueType<T>
  readonly default: (facts: HostFacts) => T
  /** what a user may write, for error messages and the manual */
  readonly accepts: string
  readonly doc: string
}

const mib = 1024 ** 2
const gib = 1024 ** 3
const size = 'a size such as 512m or 2g'
const rate = 'bytes per second such as 10m'
const path = 'an absolute path'
const storage = `${path}, not in /proc, /sys or /dev`
const patterns = 'absolute paths, * within a component (a list; comma-separated in a variable)'

/** Every setting. A variable's name follows from the key; see `variableOf`. */
export const schema = {
  home: setting(storagePath, '/var/lib/forkpoint', storage, 'directory of the store'),
  // Outside the home, which is closed to everybody but root.
  runtime: setting(
    storagePath,
    '/var/lib/forkpoint-runtime',
    storage,
    'directory of the private tools',
  ),
  'limits.memory': computed(
    orNone('none', parsed(parseMemoryLimit)),
    ({ memoryBytes }) => Math.floor(memoryBytes * 0.75),
    `${size}, at least 16m, or none`,
    'memory of an environment (default: three quarters of the machine)',
  ),
  'limits.cpus': setting(
    orNone('none', parsed(parseCpus)),
    null,
    'a number such as 2 or 0.5, at least 0.01, or none',
    'CPU time of an environment, in CPUs',
  ),
  'limits.pids': setting(
    orNone('none', parsed(parsePids)),
    4096,
    'a whole number from 8 to 4000000, or none',
    'processes and threads of an environment',
  ),
  'limits.disk': setting(
    orNone('none', parsed(parseDiskLimit)),
    null,
    `${size}, at least 16m, or none`,
    'space that the files an environment has written may take; needs btrfs and Linux 6.7',
  ),
  'limits.ioRead': setting(
    orNone('none', parsed(parseIoRate)),
    null,
    `${rate}, at least 64k, or none`,
    'bytes per second that an environment may read from each disk below it',
  ),
  'limits.ioWrite': setting(
    orNone('none', parsed(parseIoRate)),
    null,
    `${rate}, at least 64k, or none`,
    'bytes per second that an environment may write to each disk below it',
  ),
  'limits.netRate': setting(
    orNone('none', parsed(parseNetRate)),
    null,
    `${rate}, at least 4k, or none`,
    'bytes per second that an environment may send, and as many that it may receive',
  ),
  'net.mode': setting(
    z.enum(netModes),
    'none',
    'none or nat',
    'network of an environment: loopback only, or outgoing through the host',
  ),
  'net.pool': setting(
    cidr.check(z.refine((pool) => cidrPrefix(pool) <= 29)),
    '10.213.0.0/16',
    'an IPv4 network of at least a /29, such as 10.213.0.0/16',
    'addresses for environments',
  ),
  memory: setting(
    z.enum(memoryModes),
    'auto',
    'auto, share or copy',
    'how forks get their memory: shared until written if that is safe, always shared, or copied',
  ),
  'memory.tracking': setting(
    z.enum(trackingKinds),
    'auto',
    'auto, written, remapped or full',
    'how the next snapshot finds changed memory: write tracking, mapping from the last one, or not at all',
  ),
  mask: setting(
    maskPatterns,
    [...defaultMask],
    patterns,
    'paths hidden in host and dir environments, instead of the default list',
  ),
  'mask.add': setting(maskPatterns, [], patterns, 'more paths to hide'),
  'mask.remove': setting(maskPatterns, [], patterns, 'entries to remove from the mask'),
  volume: setting(
    z.enum(volumeKinds),
    'auto',
    'auto, btrfs or ext4',
    'file system for what new environments write: with ext4, a snapshot replaces their processes',
  ),
  'volume.size': setting(
    parsed(parseBytes).check(z.refine((bytes) => bytes >= 2 ** 28 && bytes <= 2 ** 44)),
    256 * gib,
    `${size}, from 256m to 16t`,
    'largest size of each volume file of the home',
  ),
  'images.tool': setting(
    z.enum(imageTools),
    'auto',
    'auto, buildah, podman, docker or skopeo',
    'program that builds and gets container images',
  ),
  'ids.base': setting(
    parsed(parseCount),
    1_000_000,
    'a user id of at least 1',
    'first host user id for environments; each gets its own range after it',
  ),
  'ids.count': setting(
    parsed(parseCount),
    65_536,
    'a whole number of at least 1',
    'number of user ids of an environment',
  ),
  wake: setting(
    z.enum(wakeModes),
    'idle',
    'idle, always or never',
    'which sleeping environments wake when they are used: those that an idle policy paused or released, also others, or none',
  ),
  'exec.timeout': setting(
    orNone('none', parsed(parseTimeout)),
    null,
    'seconds, or a duration such as 500ms or 5m, up to 24d, or none',
    'how long a command may run',
  ),
  'shell.program': setting(absolutePath, '/bin/bash', path, 'the shell of an environment'),
  'shell.login': setting(
    flag,
    false,
    'true or false',
    'whether PATH inside is that of a login shell',
  ),
  'spares.count': setting(
    parsed(parseWhole).check(z.refine((count) => count <= 1000)),
    2,
    'a whole number up to 1000; 0 turns spares off',
    'spares that a process keeps ready',
  ),
  'spares.memory': setting(
    parsed(parseBytes),
    256 * mib,
    size,
    'private memory that all spares of a process may take together',
  ),
  noNewPrivs: setting(flag, false, 'true or false', 'disable setuid programs such as sudo inside'),
  criu: setting(
    orNone('auto', absolutePath),
    null,
    `${path}, or auto`,
    'the CRIU to use instead of the one found automatically',
  ),
  'docker.socket': setting(
    orNone('auto', absolutePath),
    null,
    `${path}, or auto`,
    'socket of the Docker engine (auto: DOCKER_HOST, or the usual places)',
  ),
  'docker.processes': setting(
    flag,
    false,
    'true or false',
    'whether snapshots of new docker environments hold processes; needs an experimental engine',
  ),
  'podman.socket': setting(
    orNone('auto', absolutePath),
    null,
    `${path}, or auto`,
    'socket of `podman system service` (auto: CONTAINER_HOST, or the usual places)',
  ),
  'podman.exportDir': setting(
    orNone('none', storagePath),
    null,
    `${storage}, or none`,
    'where the podman-criu backend keeps checkpoints, instead of in the home',
  ),
  'gvisor.runsc': setting(
    orNone('auto', absolutePath),
    null,
    `${path}, or auto`,
    'the runsc of the gvisor backend, instead of the private one',
  ),
  'gvisor.root': setting(
    orNone('auto', absolutePath),
    null,
    `${path}, or auto`,
    'the `--root` of runsc containers that `attach` adopts (auto: /run/runsc, /var/run/runsc)',
  ),
  'admission.environments': setting(
    orNone('none', parsed(parseCount)),
    null,
    'a whole number of at least 1, or none',
    'how many environments there may be; more are refused',
  ),
  'admission.memory': setting(
    orNone('none', parsed(parseMemoryLimit)),
    null,
    `${size}, at least 16m, or none`,
    'what the memory limits of environments may add up to; one without a limit counts as all of it',
  ),
  'admission.branchOperations': setting(
    orNone('none', parsed(parseCount)),
    null,
    'a whole number of at least 1, or none',
    'how many operations may make, capture or replace environments at once; others wait for their turn',
  ),
  'admission.disk': setting(
    orNone('none', parsed(parseBytes)),
    null,
    `${size}, or none`,
    'what must be free on the disk of the home; with less, what would write to it is refused',
  ),
  'admission.each.environments': setting(
    orNone('none', parsed(parseCount)),
    null,
    'a whole number of at least 1, or none',
    'the same for those that one principal has made, where several share an engine',
  ),
  'admission.each.memory': setting(
    orNone('none', parsed(parseMemoryLimit)),
    null,
    `${size}, at least 16m, or none`,
    'the same for those that one principal has made',
  ),
  'admission.each.disk': setting(
    orNone('none', parsed(parseDiskLimit)),
    null,
    `${size}, at least 16m, or none`,
    'what the disk limits of those and the sizes of their snapshots may add up to; one without a limit counts as all of it',
  ),
  'e2b.templates': setting(
    templates,
    [],
    'NAME=SOURCE or NAME=snapshot:NAME (a list; comma-separated in a variable)',
    'what the templates of E2B clients stand for: a source of `create`, or a snapshot',
  ),
  log: setting(
    z.enum(logLevels),
    'silent',
    'silent, error, warn, info or debug',
    'how much to log on stderr: failures of background work, and steps of operations',
  ),
  color: setting(
    z.enum(['auto', 'always', 'never']),
    'auto',
    'auto, always or never',
    'colours in human output',
  ),
} satisfies Record<string, Setting<unknown>>

export type SettingKey = keyof typeof schema

export type Values = { [K in SettingKey]: ReturnType<(typeof schema)[K]['default']> }

export const settingKeys = Object.keys(schema) as SettingKey[]

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(schema, key)
}

/** `limits.memory` is FORKPOINT_LIMITS_MEMORY, `noNewPrivs` is FORKPOINT_NO_NEW_PRIVS. */
export function variableOf(key: SettingKey): string {
  const words = key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).replaceAll('.', '_')
  return `FORKPOINT_${words.toUpperCase()}`
}

function computed<T>(
  type: ValueType<T>,
  fallback: (facts: HostFacts) => NoInfer<T>,
  accepts: string,
  doc: string,
): Setting<T> {
  return { type, default: fallback, accepts, doc }
}

function setting<T>(
  type: ValueType<T>,
  fallback: NoInfer<T>,
  accepts: string,
  doc: string,
): Setting<T> {
  return computed(type, () => fallback, accepts, doc)
}
