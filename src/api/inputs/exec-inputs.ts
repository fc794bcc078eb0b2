import * as z from 'zod/mini'
import type { CommandInfo } from '../../agent/commands/commands.ts'
import { either, type Input, list, options, value } from './checked.ts'
import { data } from './data.ts'
import { variables } from './maps.ts'
import * as v from './values.ts'

/** The kernel's limit for all words and variables of a program. */
const longestCommand = 2 * 1024 * 1024

const words: Input<readonly string[]> = list('words', v.text(longestCommand))

/** A program with its arguments. */
export const programInput: Input<readonly string[]> = value(
  'a list of words, of which the first is a program that is not empty',
  (given) => {
    const { success, data } = words.safeParse(given)
    return success && (data[0] ?? '') !== '' ? data : undefined
  },
  z.array(z.string(), { error: 'a list of words' }),
)

export const commandInput: Input<string | readonly string[]> = either(
  'a command line, or a list of words, without NUL and up to 2 MiB long',
  v.text(longestCommand),
  words,
)

const common = {
  mode: v.oneOf('shell', 'detached', 'process'),
  shell: v.word,
  cwd: v.path,
  env: variables,
  user: v.word,
  timeoutMs: v.timeout,
  onWait: v.callback<(ahead: CommandInfo) => void>(),
  signal: v.signal,
}

type Listener = (chunk: Buffer) => void | Promise<void>

export const execInput = options({
  ...common,
  stdin: data,
  abortWaitMs: v.whole(0),
  onLeft: v.callback<(id: string) => void>(),
  onStdout: v.callback<Listener>(),
  onStderr: v.callback<Listener>(),
})

export const spawnInput = options({
  ...common,
  stdin: v.oneOf('none', 'streamed'),
  id: v.word,
})

/** Like `kill`: the signal, and how long the command may take before it is killed. */
export const killInput = options({ signal: v.word, graceMs: v.whole(1) })

export const listCommandsInput = options({
  /** also the one that ran to its end most lately */
  last: v.truth,
})

export const followInput = options({
  /** bytes of each that are known already */
  stdout: v.whole(0),
  stderr: v.whole(0),
  /** leaves the command to whoever follows it now */
  readAlong: v.truth,
})
