import { environmentsOf } from '../forest/forest.ts'
import type { Watched } from '../forest/watch-forest.ts'
import { formatBytes } from '../ui/format.ts'
import { Facts, Section } from './overview/facts.tsx'
import { NodeLink } from './overview/node-link.tsx'

const largest = 8

/** What there is in all, while nothing is selected. */
export function StoreOverview({ watched }: { watched: Watched }) {
  const { forest, operations } = watched
  const environments = environmentsOf(forest)
  const running = environments.filter(({ status }) => status === 'running').length
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
      <DiskUsage forest={forest} />
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

/** From what the tree knows: asking the daemon to measure everything takes long in a large home. */
function DiskUsage({ forest }: Pick<Watched, 'forest'>) {
  const sized = [...forest.nodes.values()].flatMap((node) =>
    node.kind === 'snapshot' && node.ownBytes !== null
      ? [{ id: node.id, bytes: node.ownBytes }]
      : [],
  )
  if (sized.length === 0) return null
  const sum = sized.reduce((total, { bytes }) => total + bytes, 0)
  const top = sized.toSorted((a, b) => b.bytes - a.bytes).slice(0, largest)
  const most = Math.max(1, top[0]?.bytes ?? 1)
  return (
    <Section title={`Snapshots added ${formatBytes(sum)}; the largest`}>
      <ul className="bars">
        {top.map(({ id, bytes }) => (
          <li key={id}>
            <NodeLink id={id} forest={forest} />
            <span className="bar">
              <span style={{ width: `${(100 * bytes) / most}%` }} />
            </span>
            <span className="number faint">{formatBytes(bytes)}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
