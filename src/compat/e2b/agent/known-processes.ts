import type { Environment } from '../../../api/handles/environment.ts'
import { NotFoundError } from '../../../model/errors.ts'

/** How a process was started, which the agent does not keep. */
export interface ProcessConfig {
  readonly cmd: string
  readonly args: readonly string[]
  readonly envs: Readonly<Record<string, string>>
  readonly cwd?: string | undefined
  readonly tag?: string | undefined
}

/** A process of a sandbox: a command, or a program on a terminal. */
export type InsideProcess =
  | { readonly kind: 'command'; readonly id: string; readonly pid: number }
  | { readonly kind: 'terminal'; readonly name: string; readonly pid: number }

export type Selector = { readonly pid: number } | { readonly tag: string }

/** Commands have the same ids in forks, so that what is known of one is known of its copies. */
const mostKnown = 10_000

/** What this daemon knows of the processes that it started. */
export class KnownProcesses {
  readonly #configs = new Map<string, ProcessConfig>()

  remember(id: string, config: ProcessConfig): void {
    this.#configs.set(id, config)
    const [oldest] = this.#configs.keys()
    if (this.#configs.size > mostKnown && oldest !== undefined) this.#configs.delete(oldest)
  }

  /** Everything that runs now. */
  async list(environment: Environment): Promise<readonly (InsideProcess & ProcessConfig)[]> {
    const [commands, terminals] = await Promise.all([
      environment.commands(),
      environment.terminals(),
    ])
    return [
      ...commands.flatMap(({ id, pid, running, mode, command }) =>
        running && pid !== null && mode === 'process' && !isKernel(id)
          ? [{ kind: 'command' as const, id, pid, ...this.#configOf(id, command) }]
          : [],
      ),
      ...terminals.flatMap(({ name, pid, running }) =>
        running ? [{ kind: 'terminal' as const, name, pid, ...this.#configOf(name, name) }] : [],
      ),
    ]
  }

  /** One that runs, or a command that has ended lately. */
  async find(environment: Environment, selector: Selector): Promise<InsideProcess> {
    const running = (await this.list(environment)).find((each) =>
      'pid' in selector ? each.pid === selector.pid : each.tag === selector.tag,
    )
    if (running !== undefined) return running
    if ('pid' in selector) {
      const { pid } = selector
      const ended = (await environment.commands()).findLast((each) => each.pid === pid)
      if (ended !== undefined) return { kind: 'command', id: ended.id, pid }
    }
    throw new NotFoundError(`no process ${JSON.stringify(selector)}`, {
      remedy: 'list the processes that run',
    })
  }

  /** After a restart of the daemon, only the words are known. */
  #configOf(id: string, command: string): ProcessConfig {
    const known = this.#configs.get(id)
    if (known !== undefined) return known
    const [cmd = '', ...args] = command.split(' ')
    return { cmd, args, envs: {} }
  }
}

/** The interpreters of contexts are not commands of the user. */
const kernelPrefix = 'e2b-kernel-'

export function kernelId(context: string): string {
  return `${kernelPrefix}${context}`
}

function isKernel(id: string): boolean {
  return id.startsWith(kernelPrefix)
}
