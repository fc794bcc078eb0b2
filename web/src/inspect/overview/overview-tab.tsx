import type { Output } from 'forkpoint/client'
import { ErrorState, LoadingState } from '../../ui/states.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import type { TabProps } from '../inspector.tsx'
import { EnvironmentFacts } from './environment-facts.tsx'
import { LabelsEditor } from './labels-editor.tsx'
import { Lineage } from './lineage.tsx'
import { LostList } from './lost-list.tsx'
import { SnapshotFacts } from './snapshot-facts.tsx'

export type Info = Output<'find'>

/** The facts about a node, its labels, and where it came from. */
export function OverviewTab({ session, target, refresh }: TabProps) {
  const { node, forest } = target
  // Another forest means that something has happened, perhaps to this node.
  const key = `${node.id} ${node.status} ${node.name} ${JSON.stringify(node.labels)}`
  const { loaded, reload } = useLoaded(key, (signal) =>
    session.client.call('find', { reference: node.id }, { signal }),
  )
  if (loaded.state === 'loading') return <LoadingState what="details" />
  if (loaded.state === 'failed') return <ErrorState error={loaded.error} onRetry={reload} />
  const info = loaded.value
  const changed = async () => {
    reload()
    await refresh()
  }
  return (
    <div className="facts-page">
      {info.kind === 'snapshot' ? (
        <SnapshotFacts info={info} session={session} onChanged={changed} />
      ) : (
        <EnvironmentFacts info={info} forest={forest} />
      )}
      <LabelsEditor info={info} session={session} onChanged={changed} />
      <Lineage node={node} forest={forest} />
      <LostList lost={info.lost} />
    </div>
  )
}
