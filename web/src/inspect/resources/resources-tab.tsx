import { formatBytes } from '../../ui/format.ts'
import { EmptyState, NotAllowed } from '../../ui/states.tsx'
import type { TabProps } from '../inspector.tsx'
import { Section } from '../overview/facts.tsx'
import { Graph } from './graph.tsx'
import { CommandList, ProcessList } from './process-list.tsx'
import { type Sample, useSamples } from './use-samples.ts'

/** What an environment uses now, and has used while somebody looked; its commands and processes. */
export function ResourcesTab({ session, target: { node } }: TabProps) {
  if (node.kind !== 'environment' || node.status !== 'running') {
    return (
      <EmptyState title="It does not run">It uses no CPU, and no memory of its own.</EmptyState>
    )
  }
  return (
    <div className="facts-page">
      <Graphs id={node.id} session={session} />
      {session.can('exec') ? (
        <>
          <CommandList id={node.id} session={session} />
          <ProcessList id={node.id} session={session} />
        </>
      ) : (
        <NotAllowed scope="exec" what="Looking at processes" />
      )}
    </div>
  )
}

function Graphs({ id, session }: Pick<TabProps, 'session'> & { id: Sample['id'] }) {
  const samples = useSamples(session.client, id)
  const last = samples.at(-1)
  if (last === undefined) return null
  const { stats } = last
  const limit = (value: number | null, shown: (value: number) => string) =>
    value === null ? '' : ` of ${shown(value)}`
  return (
    <Section title="Use">
      <div className="graphs">
        <Graph
          title="CPU"
          now={`${last.cpus.toFixed(2)} CPUs`}
          values={samples.map(({ cpus }) => cpus)}
          least={1}
        />
        <Graph
          title="Memory of its own"
          now={`${formatBytes(stats.memory.privateBytes)}${limit(stats.memoryLimitBytes, formatBytes)}`}
          values={samples.map((each) => each.stats.memory.privateBytes)}
          least={stats.memoryLimitBytes ?? 16 * 1024 ** 2}
        />
        <Graph
          title="Memory shared with its snapshots"
          now={formatBytes(stats.memory.sharedBytes)}
          values={samples.map((each) => each.stats.memory.sharedBytes)}
          least={16 * 1024 ** 2}
        />
        <Graph
          title="Processes"
          now={`${stats.processes}${limit(stats.processLimit, String)}`}
          values={samples.map((each) => each.stats.processes)}
          least={10}
        />
        <Graph
          title="Files it changed"
          now={`${formatBytes(stats.diskUsedBytes ?? stats.diskBytes)}${limit(stats.diskLimitBytes, formatBytes)}`}
          values={samples.map((each) => each.stats.diskUsedBytes ?? each.stats.diskBytes)}
          least={1024 ** 2}
        />
      </div>
    </Section>
  )
}
