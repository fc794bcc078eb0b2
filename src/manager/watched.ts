import { Command } from '../api/handles/command.ts'
import type { Environment } from '../api/handles/environment.ts'
import { EnvironmentFiles } from '../api/handles/files.ts'
import { EnvironmentPorts } from '../api/handles/ports.ts'
import { Terminal } from '../api/handles/terminal.ts'
import { TerminalViewer } from '../api/handles/terminal-viewer.ts'

/** What members of these handles only look; whatever else is called may change something inside. */
const looking = new Set([
  ...[
    'id',
    'kind',
    'name',
    'backend',
    'lastInfo',
    'info',
    'log',
    'stats',
    'diff',
    'export',
    'apply',
  ],
  ...['shells', 'commands', 'terminals', 'snapshot', 'rename', 'then'],
  ...['read', 'list', 'stat', 'download', 'watch', 'screen'],
  ...['pid', 'offsets', 'stdout', 'stderr', 'wait', 'detach', 'exit', 'opened', 'data'],
])

const nested = [Command, EnvironmentFiles, EnvironmentPorts, Terminal, TerminalViewer] as const

/**
 * The same environment, but `onChange` learns of every call that may change something inside, however it
 * is reached: files, ports, terminals, commands.
 */
export function watched(environment: Environment, onChange: (what: string) => void): Environment {
  return watch(environment, onChange)
}

function watch<T extends object>(target: T, onChange: (what: string) => void): T {
  return new Proxy(target, {
    get: (_, key) => {
      // With the proxy as receiver, private fields of the handle could not be read.
      const member: unknown = Reflect.get(target, key, target)
      if (typeof member !== 'function') return follow(member, onChange)
      return (...args: unknown[]) => {
        const result: unknown = Reflect.apply(member, target, args)
        if (!looking.has(String(key)))
          noteCall(`${nameOf(target)}.${String(key)}`, result, onChange)
        return follow(result, onChange)
      }
    },
  })
}

/** A call that takes time may change something at any moment until it is over. */
function noteCall(call: string, result: unknown, onChange: (what: string) => void): void {
  const what = `${call} was called`
  onChange(what)
  if (result instanceof Promise) {
    result.then(
      () => onChange(what),
      () => onChange(what),
    )
  }
}

/** A handle that is reached through a watched one is watched, too. */
function follow(value: unknown, onChange: (what: string) => void): unknown {
  if (value instanceof Promise) return value.then((inner) => follow(inner, onChange))
  const isHandle = nested.some((handle) => value instanceof handle)
  return isHandle ? watch(value as object, onChange) : value
}

function nameOf(target: object): string {
  if (target instanceof EnvironmentFiles) return 'files'
  if (target instanceof EnvironmentPorts) return 'ports'
  return target instanceof Terminal || target instanceof TerminalViewer ? 'terminal' : 'environment'
}
