import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { foreignProject } from '../../support/package/installed.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

const run = promisify(execFile)
const patienceMs = 60_000

/** A real terminal: tmux on its own socket, with a shell of the host in the project that uses Forkpoint. */
export class TmuxTerminal implements AsyncDisposable {
  // tmux leaves its socket behind when it ends, so it is in a directory that is removed.
  readonly #directory = new TemporaryDirectory()

  get #socket(): string {
    return this.#directory.file('tmux')
  }

  static async start(env: NodeJS.ProcessEnv): Promise<TmuxTerminal> {
    const terminal = new TmuxTerminal()
    const shell = ['env', 'PS1=host> ', 'bash', '--norc', '--noprofile']
    await run(
      'tmux',
      [
        '-S',
        terminal.#socket,
        '-f',
        '/dev/null',
        'new-session',
        '-d',
        '-c',
        foreignProject,
        '-x',
        '100',
        '-y',
        '30',
        ...shell,
      ],
      { env },
    )
    try {
      await terminal.shows(/host> $/)
    } catch (error) {
      await terminal[Symbol.asyncDispose]()
      throw error
    }
    return terminal
  }

  /** Types text as it is, then Enter. */
  async line(text: string): Promise<void> {
    await this.#tmux('send-keys', '-l', text)
    await this.keys('Enter')
  }

  /** Presses keys by their names in tmux. */
  async keys(...names: string[]): Promise<void> {
    for (const name of names) await this.#tmux('send-keys', name)
  }

  async type(text: string): Promise<void> {
    await this.#tmux('send-keys', '-l', text)
  }

  async paste(text: string): Promise<void> {
    const file = this.#directory.file('paste')
    writeFileSync(file, text)
    await this.#tmux('load-buffer', file)
    await this.#tmux('paste-buffer', '-r')
  }

  async screen(): Promise<string> {
    return (await this.#tmux('capture-pane', '-p')).trimEnd()
  }

  /** Waits until the screen matches; resolves to its content. */
  async shows(what: RegExp): Promise<string> {
    const deadline = performance.now() + patienceMs
    for (;;) {
      const screen = await this.screen()
      // Trailing blanks of the last line are cut, even that of a prompt.
      if (what.test(screen) || what.test(`${screen} `)) return screen
      if (performance.now() > deadline) throw new Error(`${what} was not shown, but:\n${screen}`)
      await sleep(100)
    }
  }

  async resize(cols: number, rows: number): Promise<void> {
    await this.#tmux('resize-window', '-x', String(cols), '-y', String(rows))
  }

  /** The program that the host's shell runs in the foreground. */
  async foregroundPid(): Promise<number> {
    const shell = (await this.#tmux('list-panes', '-F', '#{pane_pid}')).trim()
    return Number(readFileSync(`/proc/${shell}/task/${shell}/children`, 'utf8').trim())
  }

  async format(format: string): Promise<string> {
    return (await this.#tmux('display-message', '-p', format)).trim()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#tmux('kill-server')
    } finally {
      this.#directory[Symbol.dispose]()
    }
  }

  async #tmux(...args: string[]): Promise<string> {
    const { stdout } = await run('tmux', ['-S', this.#socket, ...args])
    return stdout
  }
}
