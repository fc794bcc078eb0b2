import type { Output } from 'forkpoint/client'
import { Age } from '../ui/age.tsx'
import { formatMs } from '../ui/format.ts'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { useLoaded } from '../ui/use-loaded.ts'
import type { TabProps } from './inspector.tsx'
import { NodeLink } from './overview/node-link.tsx'
import { TimingBar } from './overview/timing-bar.tsx'

type LogEntry = Output<'environment.log'>[number]

/** What was done to an environment, newest first. */
export function LogTab({ session, target: { node, forest } }: TabProps) {
  // Each operation gives another forest; then there is one more entry.
  const { loaded, reload } = useLoaded(
    `${node.id} ${forest.nodes.size} ${node.status}`,
    (signal) =>
      node.kind === 'environment'
        ? session.client.call('environment.log', { reference: node.id }, { signal })
        : Promise.resolve([]),
  )
  if (loaded.state === 'loading') return <LoadingState what="the log" />
  if (loaded.state === 'failed') return <ErrorState error={loaded.error} onRetry={reload} />
  const entries = loaded.value.toReversed()
  if (entries.length === 0)
    return <EmptyState title="No operations yet">Nothing was done.</EmptyState>
  return (
    <ol className="log">
      {entries.map((entry) => (
        <li key={entry.id} data-state={entry.state}>
          <div className="log-line">
            <strong>{entry.kind}</strong>
            {entry.state !== 'done' && <span className="log-state">{stateWords(entry)}</span>}
            {entry.snapshot !== null && <NodeLink id={entry.snapshot} forest={forest} />}
            {entry.from !== null && (
              <>
                <span className="faint">from</span> <NodeLink id={entry.from} forest={forest} />
              </>
            )}
            {entry.cause !== null && <span className="faint">by {entry.cause}</span>}
            <span className="log-time faint">
              {entry.durationMs !== null && `${formatMs(entry.durationMs)} · `}
              <Age at={entry.startedAt} suffix=" ago" />
            </span>
          </div>
          {entry.error !== null && (
            <p className="dialog-failure">
              {entry.error.message} <span className="faint">{entry.error.remedy}</span>
            </p>
          )}
          {entry.phases.length > 0 && (
            <details>
              <summary className="small faint">{entry.phases.length} steps</summary>
              <TimingBar phases={entry.phases} totalMs={entry.durationMs ?? 0} />
            </details>
          )}
        </li>
      ))}
    </ol>
  )
}

function stateWords({ state }: LogEntry): string {
  return state === 'open' ? 'under way' : state === 'rolled_back' ? 'undone' : state
}
