import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readScreen } from '../../../src/agent/terminals/read-screen.ts'
import {
  attachTerminal,
  closeTerminal,
  listTerminals,
  openTerminal,
  resizeTerminal,
  type TerminalHandle,
} from '../../../src/agent/terminals/terminals.ts'
import type { AgentConnection } from '../../../src/agent/wire/connection.ts'
import { NotFoundError } from '../../../src/model/errors.ts'
import { unless } from '../../support/evidence.ts'
import { whyNot } from '../../support/probe.ts'
import { TestAgent, whyNoAgent } from './run-agent.ts'

const whyNoVim = whyNot('vim', '--version')
const bash = { argv: ['bash', '--norc', '--noprofile'], env: { PS1: '$ ' } }

describe('a terminal', unless(whyNoAgent), () => {
  let agent: TestAgent
  let connection: AgentConnection

  beforeAll(async () => {
    agent = await TestAgent.start()
    connection = await agent.connect()
  })
  afterAll(() => agent?.[Symbol.asyncDispose]())

  /** What the terminal shows, once it shows `wanted`. */
  async function screenWith(name: string, wanted: string | RegExp): Promise<string> {
    const text = async () => (await readScreen(connection, name)).lines.join('\n')
    await expect.poll(text, { timeout: 60_000, interval: 50 }).toMatch(wanted)
    return await text()
  }

  async function readUntil(terminal: TerminalHandle, wanted: string): Promise<string> {
    let text = ''
    for await (const chunk of terminal.data()) {
      text += chunk
      if (text.includes(wanted)) return text
    }
    throw new Error(`the terminal ended without ${wanted}: ${text}`)
  }

  test('runs what is typed and shows the output', async () => {
    const terminal = await openTerminal(connection, 'typing', bash)
    await terminal.write('echo $((6*7))\r')
    expect(await readUntil(terminal, '42')).toContain('echo $((6*7))')
    terminal.detach()
    expect(await screenWith('typing', /^42$/m)).toContain('$ echo $((6*7))')
  })

  test('repeats no query and no clipboard write when somebody attaches again', async () => {
    const terminal = await openTerminal(connection, 'effects', bash)
    await terminal.write("printf '\\e]52;c;eA==\\a\\e[6n\\e[1mdra''wn\\n'\r")
    // The last character waits for what may be combined with it, so the line must have ended.
    expect(await readUntil(terminal, 'drawn\r\n')).toContain('\x1b]52;c;eA==\x07\x1b[6n')
    terminal.detach()
    const again = await attachTerminal(connection, 'effects')
    const shown = await readUntil(again, 'drawn')
    expect(shown).toContain('\x1b[0;1mdrawn')
    expect(shown).not.toContain('\x1b]52')
    expect(shown).not.toContain('\x1b[6n')
    again.detach()
  })

  test('shows vim as a person would see it', unless(whyNoVim), async () => {
    const options = { ...bash, cols: 60, rows: 12 }
    const terminal = await openTerminal(connection, 'vim', options)
    await terminal.write('vim -u NONE\r')
    await screenWith('vim', /^~$/m)
    await terminal.write('ihello from vim\x1b')
    await screenWith('vim', /^hello from vim$/m)
    expect(await readScreen(connection, 'vim')).toMatchObject({ isAlternate: true, rows: 12 })
    await terminal.write(':q!\r')
    await screenWith('vim', /^\$ vim -u NONE$/m)
    expect(await readScreen(connection, 'vim')).toMatchObject({ isAlternate: false })
    terminal.detach()
  })

  test('shows a python prompt that remembers', async () => {
    const terminal = await openTerminal(connection, 'python', {
      argv: ['python3', '-q'],
      env: { PYTHON_BASIC_REPL: '1', PATH: process.env.PATH ?? '' },
    })
    await screenWith('python', />>>/)
    await terminal.write('x = 20\r')
    await terminal.write('x * 2 + 2\r')
    expect(await screenWith('python', /^42$/m)).toContain('>>> x * 2 + 2')
    terminal.detach()
  })

  test('shows top, which redraws itself', async () => {
    const terminal = await openTerminal(connection, 'top', { argv: ['top'], cols: 100, rows: 30 })
    await screenWith('top', /load average/)
    await screenWith('top', /PID USER/)
    await terminal.write('q')
    expect(await terminal.exit).toMatchObject({ exitCode: 0 })
  })

  test('shows the same to two viewers, and both may type', async () => {
    const first = await openTerminal(connection, 'shared', bash)
    const other = await agent.connect()
    const second = await attachTerminal(other, 'shared')
    const bothSee = Promise.all([readUntil(first, 'one-two'), readUntil(second, 'one-two')])
    await first.write('echo one-')
    await second.write('two\r')
    await bothSee
    first.detach()
    second.detach()
  })

  test('continues without viewers, and replays its screen to the next one', async () => {
    const first = await openTerminal(connection, 'later', bash)
    await first.write('sleep 0.3; echo while-away\r')
    first.detach()
    await screenWith('later', /^while-away$/m)
    const second = await attachTerminal(connection, 'later')
    expect((await second.opened()).replayBytes).toBeGreaterThan(0)
    expect(String(await second.readReplay())).toContain('while-away')
    second.detach()
  })

  test('tells its program about a new size', async () => {
    const terminal = await openTerminal(connection, 'sized', { ...bash, cols: 80, rows: 24 })
    await terminal.resize({ cols: 132, rows: 43 })
    await terminal.write('stty size\r')
    await screenWith('sized', /^43 132$/m)
    expect(await readScreen(connection, 'sized')).toMatchObject({ cols: 132, rows: 43 })
    const listed = (await listTerminals(connection)).find(({ name }) => name === 'sized')
    expect(listed).toMatchObject({ cols: 132, rows: 43, running: true })
    terminal.detach()
  })

  test('reports how its program ended', async () => {
    const terminal = await openTerminal(connection, 'ending', bash)
    await terminal.write('exit 7\r')
    expect(await terminal.exit).toEqual({ exitCode: 7, signal: null })
  })

  test('ends when it is closed', async () => {
    const terminal = await openTerminal(connection, 'closing', bash)
    await closeTerminal(connection, 'closing')
    await terminal.exit
    await expect
      .poll(async () =>
        (await listTerminals(connection)).find(
          ({ name, running }) => name === 'closing' && running,
        ),
      )
      .toBeUndefined()
  })

  test('that does not exist is not created by looking at it', async () => {
    await expect(readScreen(connection, 'nowhere')).rejects.toThrow(NotFoundError)
    await expect(resizeTerminal(connection, 'nowhere', { cols: 80, rows: 24 })).rejects.toThrow(
      NotFoundError,
    )
  })

  test('is never delayed by a viewer that does not read, and lets it catch up', async () => {
    const idle = await openTerminal(connection, 'flood', bash)
    await idle.write('seq 1 400000; echo THE-END\r')
    await screenWith('flood', /^THE-END$/m)
    let text = ''
    for await (const chunk of idle.data()) {
      text += chunk
      // Whole output has it in a line of its own, a redraw at the beginning of a row.
      if (/^THE-END|;1HTHE-END/m.test(text)) break
    }
    expect(text.length).toBeLessThan(2_500_000)
    expect(text).toContain('400000')
    idle.detach()
  })
})
