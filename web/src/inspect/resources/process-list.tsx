import type { CommandState } from 'forkpoint/client'
import { useEffect } from 'react'
import type { Session } from '../../session/session.ts'
import { formatBytes, formatMs } from '../../ui/format.ts'
import { ErrorState, LoadingState } from '../../ui/states.tsx'
import { type Loading, useLoaded } from '../../ui/use-loaded.ts'
import { Section } from '../overview/facts.tsx'

interface ListProps {
  readonly id: string
  readonly session: Session
}

const everyMs = 3000

/** Loads again every few seconds while somebody looks. */
function useLive<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loading<T> {
  const loading = useLoaded(key, load)
  const { reload } = loading
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload()
    }, everyMs)
    return () => clearInterval(timer)
  }, [reload])
  return loading
}

const shownCommands = 12

/** The commands that run or ran lately, newest first. */
export function CommandList({ id, session: { client } }: ListProps) {
  const { loaded } = useLive(id, (signal) => client.commands(id, { signal }))
  if (loaded.state !== 'ready' || loaded.value.length === 0) return null
  return (
    <Section title="Commands">
      <table className="processes">
        <tbody>
          {loaded.value
            .toReversed()
            .slice(0, shownCommands)
            .map((command) => (
              <tr key={command.id}>
                <td className={command.running ? 'status-running' : 'faint'}>{ending(command)}</td>
                <td className="number faint">
                  {command.durationMs !== null && formatMs(command.durationMs)}
                </td>
                <td className="mono process-command" data-lines="one" title={command.command}>
                  {command.command}
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </Section>
  )
}

function ending({ running, exit }: CommandState): string {
  if (running) return 'runs'
  if (exit === null) return 'ended'
  return exit.signal === null ? `exit ${exit.exitCode}` : exit.signal
}

/** Every process inside, the largest first. */
export function ProcessList({ id, session: { client } }: ListProps) {
  const { loaded, reload } = useLive(id, (signal) => client.processes(id, { signal }))
  if (loaded.state === 'loading') return <LoadingState what="processes" />
  if (loaded.state === 'failed') return <ErrorState error={loaded.error} onRetry={reload} />
  const sorted = loaded.value.toSorted((a, b) => b.memoryBytes - a.memoryBytes || a.pid - b.pid)
  return (
    <Section title={`Processes: ${sorted.length}`}>
      <table className="processes">
        <thead>
          <tr>
            <th>pid</th>
            <th>state</th>
            <th>memory</th>
            <th>command</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map(({ pid, state, memoryBytes, command }) => (
            <tr key={pid}>
              <td className="number">{pid}</td>
              <td>{state}</td>
              <td className="number">{formatBytes(memoryBytes)}</td>
              <td className="mono process-command">{command}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  )
}
