import { environmentsOf } from '../forest/forest.ts'
import type { Watched } from '../forest/watch-forest.ts'
import type { Session } from '../session/session.ts'
import { formatBytes } from '../ui/format.ts'
import { useLoaded } from '../ui/use-loaded.ts'
import { Facts, Section } from './overview/facts.tsx'
import { NodeLink } from './overview/node-link.tsx'

const largest = 8

/** What there is in all, while nothing is selected. */
export function StoreOverview({ session, watched }: { session: Session; watched: Watched }) {
  const { forest, operations } = watched
  const environments = environmentsOf(forest)
  const running = environments.filter(({ status }) => status === 'running').length
  const isRestricted = Object.keys(session.principal.labels).length > 0
  return (
    <div className="facts-page">
      <Section title="This home">
        <Facts
          facts={{
            environments: `${environments.length}, of which ${running} run`,
            snapshots: forest.nodes.size - environments.length,
            'under way': operations.length > 0 && operations.map(({ kind }) => kind).join(', '),
          }}
        />
      </Section>
      {!isRestricted && <DiskUsage session={session} watched={watched} />}
      <Section title="How to read the tree">
        <ul className="reading">
          <li>
            A line is the life of one environment. Its snapshots are on it, its leaf is the tip.
          </li>
          <li>What was forked grows to the right, from the snapshot that it continues.</li>
          <li>A filled ring is on disk. A square holds only files.</li>
          <li>
            Press <kbd>?</kbd> for all keys, <kbd>Ctrl K</kbd> for all commands.
          </li>
        </ul>
      </Section>
    </div>
  )
}

function DiskUsage({ session, watched: { forest } }: { session: Session; watched: Watched }) {
  const { loaded } = useLoaded(String(forest.nodes.size), (signal) =>
    session.client.call('usage', {}, { signal }),
  )
  if (loaded.state !== 'ready') return null
  const { snapshots, totals } = loaded.value
  const top = snapshots.toSorted((a, b) => (b.ownBytes ?? 0) - (a.ownBytes ?? 0)).slice(0, largest)
  const most = top[0]?.ownBytes ?? 1
  return (
    <Section title="Disk and memory">
      <Facts
        facts={{
          snapshots: formatBytes(totals.snapshotBytes),
          environments: `${formatBytes(totals.environmentBytes)} on disk, ${formatBytes(totals.memoryBytes)} in memory`,
          images: totals.containerImageBytes > 0 && formatBytes(totals.containerImageBytes),
        }}
      />
      <ul className="bars" aria-label="The largest snapshots">
        {top.map(({ id, ownBytes }) => (
          <li key={id}>
            <NodeLink id={id} forest={forest} />
            <span className="bar">
              <span style={{ width: `${(100 * (ownBytes ?? 0)) / Math.max(1, most)}%` }} />
            </span>
            <span className="number faint">
              {ownBytes === null ? 'not counted' : formatBytes(ownBytes)}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
