import * as z from 'zod'
import type { ScreenText } from '../../agent/terminals/screen.ts'
import type { Terminal } from '../../api/handles/terminal.ts'
import { type Call, tool } from '../tool.ts'
import * as f from './fields.ts'

const longestText = 64 * 1024
/** A screen that has not changed for this long is taken to be complete. */
const settledMs = 300
const lookEveryMs = 50

const keys = {
  enter: '\r',
  escape: '\x1b',
  tab: '\t',
  backspace: '\x7f',
  up: '\x1b[A',
  down: '\x1b[B',
  right: '\x1b[C',
  left: '\x1b[D',
  'ctrl-a': '\x01',
  'ctrl-c': '\x03',
  'ctrl-d': '\x04',
  'ctrl-e': '\x05',
  'ctrl-l': '\x0c',
  'ctrl-r': '\x12',
  'ctrl-u': '\x15',
  'ctrl-z': '\x1a',
} as const

type Key = keyof typeof keys

const screenFields = {
  text: z.string().describe('what a person would see'),
  cursor: z.object({ col: z.number(), row: z.number() }),
  fullScreen: z.boolean().describe('whether a full-screen program such as vim is shown'),
}

export const typeTerminal = tool({
  name: 'type_terminal',
  title: 'Type into a terminal',
  description:
    'Types into a terminal of an environment, as a person would, and returns the screen once it has settled. For interactive programs: editors, debuggers, REPLs, installers. Terminals keep running between calls and are part of snapshots and forks. `text` is typed as it is; end a line with the key enter.',
  effect: 'changes',
  input: {
    environment: f.environment,
    terminal: f.terminal,
    text: z.string().max(longestText).default(''),
    keys: z
      .array(z.enum(Object.keys(keys) as [Key, ...Key[]]))
      .max(100)
      .default([])
      .describe('pressed after the text'),
    waitMs: f.waitMs(1000).describe('how long to wait at most until the screen settles'),
  },
  output: screenFields,
  run: async ({ environment, terminal: name, text, keys: pressed, waitMs }, call) => {
    const found = await call.workspace.environment(environment)
    const terminal = found.terminal(name)
    await terminal.write(text + pressed.map((key) => keys[key]).join(''))
    return shownScreen(await settled(terminal, waitMs, call))
  },
})

export const readScreen = tool({
  name: 'read_screen',
  title: 'Read a screen',
  description:
    'Shows what a person would see on a terminal of an environment now, or as soon as `contains` appears on it.',
  effect: 'reads',
  input: {
    environment: f.environment,
    terminal: f.terminal,
    contains: z.string().min(1).max(1000).optional(),
    waitMs: f.waitMs(10_000).describe('how long to wait for `contains`'),
  },
  output: { ...screenFields, found: z.boolean().describe('whether `contains` is shown') },
  run: async ({ environment, terminal: name, contains, waitMs }, call) => {
    const found = await call.workspace.environment(environment)
    const terminal = found.terminal(name)
    const until = performance.now() + waitMs
    for (;;) {
      const shown = shownScreen(await terminal.screen())
      const isThere = contains === undefined || shown.text.includes(contains)
      if (isThere || performance.now() > until || call.signal.aborted) {
        return { ...shown, found: isThere }
      }
      await pause(lookEveryMs)
    }
  },
})

/** The screen once it has not changed for a while. */
async function settled(terminal: Terminal, waitMs: number, { signal }: Call): Promise<ScreenText> {
  const until = performance.now() + waitMs
  let screen = await terminal.screen()
  let since = performance.now()
  while (performance.now() < until && performance.now() - since < settledMs && !signal.aborted) {
    await pause(lookEveryMs)
    const next = await terminal.screen()
    if (next.lines.join('\n') !== screen.lines.join('\n')) since = performance.now()
    screen = next
  }
  return screen
}

function shownScreen({ lines, cursor, isAlternate }: ScreenText) {
  const text = lines.join('\n').trimEnd()
  return { text, cursor: { ...cursor }, fullScreen: isAlternate }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
