import * as z from 'zod/mini'
import { cidrPrefix } from '../model/cidr.ts'
import { memoryModes, netModes } from '../model/environment.ts'
import {
  parseBytes,
  parseCount,
  parseCpus,
  parseMemoryLimit,
  parsePids,
  parseTimeout,
  parseWhole,
} from '../model/quantities.ts'
import { defaultMask } from './default-mask.ts'
import {
  absolutePath,
  cidr,
  flag,
  maskPatterns,
  orNone,
  parsed,
  storagePath,
  type ValueType,
} from './values.ts'

/** What defaults may depend on; the caller supplies it, so that the table itself measures nothing. */
export interface DefaultInputs {
  /** memory of this machine that Forkpoint may count on */
  readonly memoryBytes: number
  /** the effective `home` */
  readonly home: string
}

export interface Setting<T> {
  readonly type: ValueType<T>
  readonly default: (inputs: DefaultInputs) => T
  /** what a user may write, for error messages and the manual */
  readonly accepts: string
  readonly doc: string
}

const mib = 1024 ** 2
const gib = 1024 ** 3
const size = 'a size such as 512m or 2g'
const path = 'an absolute path'
const storage = `${path}, not in /proc, /sys or /dev`
const patterns = 'absolute paths, * within a component (a list; comma-separated in a variable)'

/** Every setting there is. A variable's name follows from the key; see `variableOf`. */
export const schema = {
  home: setting(storagePath, '/var/lib/forkpoint', storage, 'directory of the store'),
  runtime: computed(
    storagePath,
    ({ home }) => `${home === '/' ? '' : home}/runtime`,
    storage,
    'directory of the private tools (default: runtime in the home)',
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
    'cpu time of an environment, in cpus',
  ),
  'limits.pids': setting(
    orNone('none', parsed(parsePids)),
    4096,
    'a whole number from 8 to 4000000, or none',
    'processes and threads of an environment',
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
    'addresses that environments are given',
  ),
  memory: setting(
    z.enum(memoryModes),
    'auto',
    'auto, share or copy',
    'how forks come by their memory: shared until written where that is safe, always, or copied',
  ),
  mask: setting(
    maskPatterns,
    [...defaultMask],
    patterns,
    'paths hidden in host and dir environments, in place of the default list',
  ),
  'mask.add': setting(maskPatterns, [], patterns, 'paths to hide as well'),
  'mask.remove': setting(maskPatterns, [], patterns, 'entries of the mask not to hide'),
  'volume.size': setting(
    parsed(parseBytes).check(z.refine((bytes) => bytes >= 2 ** 28 && bytes <= 2 ** 44)),
    64 * gib,
    `${size}, from 256m to 16t`,
    'what the volume file may grow to, where the store needs one',
  ),
  'ids.base': setting(
    parsed(parseCount),
    1_000_000,
    'a user id of at least 1',
    'first of the host user ids for environments; each has a range of its own after it',
  ),
  'ids.count': setting(
    parsed(parseCount),
    65_536,
    'a whole number of at least 1',
    'how many user ids an environment has',
  ),
  'exec.timeout': setting(
    orNone('none', parsed(parseTimeout)),
    null,
    'seconds, or a duration such as 500ms or 5m, up to 24d, or none',
    'how long a command may run',
  ),
  'shell.program': setting(absolutePath, '/bin/bash', path, 'the shell of an environment'),
  'spares.count': setting(
    parsed(parseWhole).check(z.refine((count) => count <= 1000)),
    2,
    'a whole number up to 1000; 0: none',
    'likely next branches that a process keeps ready',
  ),
  'spares.memory': setting(
    parsed(parseBytes),
    256 * mib,
    size,
    'private memory that the branches kept ready may take together',
  ),
  noNewPrivs: setting(flag, false, 'true or false', 'deny setuid programs such as sudo inside'),
  criu: setting(
    orNone('auto', absolutePath),
    null,
    `${path}, or auto`,
    'the CRIU to use in place of the one found by probing',
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
  fallback: (inputs: DefaultInputs) => NoInfer<T>,
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
