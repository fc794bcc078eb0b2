import type { CommandOffsets } from '../../agent/commands/commands.ts'
import { parseCidr } from '../../model/cidr.ts'
import { backendNames, type Limits, memoryModes, netModes } from '../../model/environment.ts'
import { parseName } from '../../model/names.ts'
import { leastMemoryBytes, leastPids, mostPids, parseCpus } from '../../model/quantities.ts'
import { sourceForms, toSourceRequest } from '../../model/source.ts'
import type { ApplyOptions } from '../copying/apply.ts'
import type { DiffOptions } from '../copying/compare.ts'
import type { ExportOptions } from '../copying/export.ts'
import type { ExecOptions, SpawnOptions } from '../exec-options.ts'
import type { RemovalOptions } from '../history/removal.ts'
import type { CreateOptions } from '../operations/create.ts'
import type { ForkOptions } from '../operations/fork.ts'
import type { PauseOptions } from '../operations/pause.ts'
import type { SnapshotOptions } from '../operations/snapshot.ts'
import { either, type Input, list, options, value } from './checked.ts'
import { data } from './data.ts'
import { json, labels, shellVariables, variables } from './maps.ts'
import * as v from './values.ts'

/** What the kernel gives a program of all its words and variables. */
const longestCommand = 2 * 1024 * 1024
const longestMessage = 64 * 1024

const limits: Input<Limits> = options<Limits>({
  memoryBytes: v.whole(leastMemoryBytes),
  cpus: value('a number from 0.01 to 100000', (given) =>
    typeof given === 'number' && given >= 0.01 && given <= 100_000 ? parseCpus(given) : undefined,
  ),
  pids: v.whole(leastPids, mostPids),
})

const source = value(`a source: ${sourceForms}`, toSourceRequest)

const name = value('a name', parseName)

const network = value('a network such as 10.0.0.0/8', (given) =>
  typeof given === 'string' ? parseCidr(given) : undefined,
)

export const createInput = options<CreateOptions>({
  from: source,
  name,
  backend: v.oneOf(...backendNames),
  limits,
  net: v.oneOf(...netModes),
  memory: v.oneOf(...memoryModes),
  netAllow: list('a list of networks such as 10.0.0.0/8', network, 1000),
  env: shellVariables,
  labels,
  workdir: v.absolutePath,
  signal: v.signal,
})

export const snapshotInput = options<SnapshotOptions>({
  name,
  message: v.text(longestMessage),
  labels,
  metadata: json,
  mode: v.oneOf('full', 'filesystem'),
  durable: v.truth,
  signal: v.signal,
})

export const forkInput = options<ForkOptions>({
  count: v.whole(1, 1000),
  name,
  labels,
  atomic: v.truth,
})

export const commandInput: Input<string | readonly string[]> = either(
  'a command line, or a list of words, without NUL and up to 2 MiB long',
  v.text(longestCommand),
  list('words', v.text(longestCommand)),
)

const common = {
  mode: v.oneOf('shell', 'process'),
  shell: v.word,
  cwd: v.path,
  env: variables,
  user: v.word,
  timeoutMs: v.timeout,
  signal: v.signal,
}

export const execInput = options<ExecOptions>({
  ...common,
  stdin: data,
  onStdout: v.callback(),
  onStderr: v.callback(),
})

export const spawnInput = options<SpawnOptions>({
  ...common,
  stdin: v.oneOf('none', 'streamed'),
  id: v.word,
})

export const offsetsInput = options<Partial<CommandOffsets>>({
  stdout: v.whole(0),
  stderr: v.whole(0),
})

export const pauseInput = options<PauseOptions>({ release: v.truth })

const paths = list('absolute paths', v.absolutePath)

export const diffInput = options<DiffOptions>({ paths, patch: v.oneOf('none', 'text') })

export const exportInput = options<ExportOptions>({ paths, owner: v.oneOf('caller', 'keep') })

export const applyInput = options<ApplyOptions>({ mode: v.oneOf('apply', 'plan') })

export const removalInput = options<RemovalOptions>({ cascade: v.truth })
