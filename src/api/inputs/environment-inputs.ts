import { memoryModes, type NetMode, netModes } from '../../model/environment.ts'
import { longestCopyNote } from '../../model/files/copy-note.ts'
import { idleActions, leastPolicyMs, wakeModes } from '../../model/policy.ts'
import { sourceForms, toSourceRequest } from '../../model/source.ts'
import { parseCidr } from '../../model/values/cidr.ts'
import { parseName } from '../../model/values/names.ts'
import {
  leastDiskBytes,
  leastIoBytes,
  leastMemoryBytes,
  leastNetBytes,
  leastPids,
  mostPids,
} from '../../model/values/quantities.ts'
import { either, fields, type Input, list, options, orNull, value } from './checked.ts'
import { programInput } from './exec-inputs.ts'
import { json, labels, shellVariables } from './maps.ts'
import * as v from './values.ts'

const longestMessage = 64 * 1024

export const insidePath = v.absolutePath

export const copyNote = v.text(longestCopyNote)

export const name: Input<string> = v.textValue('a name', parseName)

const limits = options({
  memoryBytes: v.whole(leastMemoryBytes),
  /** number of CPUs, fractions allowed */
  cpus: v.number('a number from 0.01 to 100000', (given) => given >= 0.01 && given <= 100_000),
  pids: v.whole(leastPids, mostPids),
  /** space that the files it has written may take */
  diskBytes: v.whole(leastDiskBytes),
  /** bytes per second that it may read from each disk below it */
  ioReadBytes: v.whole(leastIoBytes),
  /** bytes per second that it may write to each disk below it */
  ioWriteBytes: v.whole(leastIoBytes),
  /** bytes per second that it may send, and as many that it may receive */
  netBytes: v.whole(leastNetBytes),
})

const source = value(`a source: ${sourceForms}`, toSourceRequest)

const network = v.textValue('a network such as 10.0.0.0/8', parseCidr)

const networks = list('a list of networks such as 10.0.0.0/8', network, 1000)

const policyMs = v.whole(leastPolicyMs)

const idle = fields({ afterMs: policyMs, action: v.oneOf(...idleActions) }, {})

/** What changes of an environment's policy; null takes it away. */
export const policy = {
  ttlMs: orNull(`milliseconds, at least ${leastPolicyMs}`, policyMs),
  ttlAction: v.oneOf(...idleActions),
  idle: orNull('an idle policy, such as { afterMs: 600000, action: "pause" }', idle),
  wake: v.oneOf(...wakeModes),
}

export const netMode: Input<NetMode> = v.oneOf(...netModes)

export const net = {
  /** networks of the host or its neighbours that it may reach, as CIDRs; absent: those it had */
  allow: networks,
  /** networks that it does not reach through the host, as CIDRs; absent: those it had */
  denyOut: networks,
  /** networks that it reaches although `denyOut` has them, as CIDRs; absent: those it had */
  allowOut: networks,
}

/** The options of `create`. */
export const create = {
  /**
   * where its files come from: `host` (default), `dir:PATH`, `rootfs:PATH`, `image:REF`, `dockerfile:DIR`,
   * `oci:DIR`, `archive:FILE`, `container:NAME`, or the same as an object. `snapshot:ID` makes a fork, which only accepts a name and labels
   */
  from: source,
  name,
  /** absent: the default of this machine */
  backend: v.word,
  /** absent: the limits of the configuration */
  limits,
  net: netMode,
  /** how its forks get their memory; absent: as the configuration says */
  memory: v.oneOf(...memoryModes),
  /** networks of the host or its neighbours that it may still reach, as CIDRs */
  netAllow: networks,
  /** networks that it does not reach through the host, as CIDRs, such as 0.0.0.0/0 for all of them */
  netDenyOut: networks,
  /** networks that it reaches although `netDenyOut` has them, as CIDRs */
  netAllowOut: networks,
  /** variables of every command */
  env: shellVariables,
  labels,
  /** PATH is that of a login shell, with what ~/.profile adds; absent: as the configuration says */
  login: v.truth,
  /** where commands start; absent: the directory of `dir:`, or root's home */
  workdir: v.absolutePath,
  /** whether snapshots must hold processes; only some backends leave the choice */
  processes: v.truth,
  /** arguments of `docker run`, for the backends of container engines; docs/backends/docker.md lists them */
  extraArgs: list('a list of words', v.text(longestMessage), 1000),
  /** where checkpoints are kept, for the podman-criu backend */
  exportDir: v.absolutePath,
  /** how long it exists; then it is removed, and its snapshots stay */
  ttlMs: policyMs,
  /** what happens instead when that is over; after a sleep, it has all of that time again */
  ttlAction: v.oneOf(...idleActions),
  /** what happens to it when nobody has used it for a while */
  idle,
  /** whether using it brings it back while it sleeps; absent: as the configuration says */
  wake: v.oneOf(...wakeModes),
  /**
   * words of a program to start in its working directory, as the command `command`. Snapshots capture it
   * with everything else, if the backend captures processes
   */
  command: programInput,
}

const { from: _from, command: _command, processes: _processes, login: _login, ...makeable } = create
// What was attached cannot be paused. `setPolicy` refuses what is not possible with it.
const { ttlMs: _ttl, ttlAction: _action, idle: _idle, wake: _wake, ...attachOptions } = makeable

/** The options of `attach`. Limits and network are those of everything made from its snapshots. */
export const attach = attachOptions

const longestTarget = 1024

/** Its own rules are the backend's. Names go into messages and logs, so they are printable. */
export const attachTarget: Input<string> = value(
  'the name or id of a running container, or the pid of a process',
  (given) => {
    if (Number.isSafeInteger(given) && Number(given) > 0) return String(given)
    const isName = typeof given === 'string' && /^[\w.:/@-]+$/.test(given)
    return isName && given.length <= longestTarget ? given : undefined
  },
)

const strict = {
  /** refuses if a copy would not have everything, instead of listing it in `lost` */
  strict: v.truth,
}

/** The options of `snapshot`. */
export const snapshot = {
  name,
  message: v.text(longestMessage),
  labels,
  /** any JSON */
  metadata: json,
  /** `full` (default): files, processes and terminals. `filesystem`: only files */
  mode: v.oneOf('full', 'filesystem'),
  /** waits until the snapshot is on disk */
  durable: v.truth,
  /**
   * whether memory is copied while the environment runs, so that the stop takes only what is written
   * meanwhile; absent: if much of it is new
   */
  live: v.truth,
  ...strict,
}

export const fork = {
  /** the name of a single fork, or the prefix for several: `name-1`, `name-2`, … */
  name,
  labels,
  /** all or none: if one cannot be made, the others are removed and the call rejects */
  atomic: v.truth,
  ...strict,
}

/** Of an environment that runs. */
export const liveFork = {
  ...fork,
  /**
   * `keep` gives its TCP connections to the outside to the one fork, and closes them in this environment;
   * `close` (default) closes them in the fork
   */
  connections: v.oneOf('close', 'keep'),
}

export const forkCount = v.whole(1, 1000)

export const pause = {
  /** keeps only a snapshot and ends the processes, which frees their memory */
  release: v.truth,
}

export const paths: Input<readonly string[]> = list('absolute paths', v.absolutePath)

const longestDeepPath = 16 * 1024 ** 2

const deepPath = v.textValue('an absolute path', (given) =>
  given.startsWith('/') && v.isText(given) && given.length <= longestDeepPath ? given : undefined,
)

/** As many and as long as an environment may have: the kernel limits a path, but not a tree. */
export const manyPaths: Input<readonly string[]> = list('absolute paths', deepPath, 10_000_000)

export const diff = {
  /** only these paths inside, and everything below them */
  paths,
  /** `text`: with the changed lines of text files; default: none */
  patch: v.oneOf('none', 'text'),
  /** also the lines with its name in /etc/hostname, /etc/hosts and /etc/machine-id, which every fork changes */
  all: v.truth,
}

export const ending = {
  /** even if its last snapshot cannot be restored, so that what runs is the only copy */
  force: v.truth,
}

export const restoring = { ...ending, ...strict }

export const removal = {
  /** also removes the snapshots that build on it */
  cascade: v.truth,
}

export const reference = v.word

export const references = list('ids or names', v.word)

export const statusList = <T extends string>(status: Input<T>) =>
  either('a status, or a list of them', status, list('', status))
