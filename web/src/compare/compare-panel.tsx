import { useMemo, useState } from 'react'
import { useActions } from '../actions/use-actions.tsx'
import type { PanelProps } from '../app/panel.ts'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { useLoaded } from '../ui/use-loaded.ts'
import { CompareFiles } from './compare-files.tsx'
import { CompareTable } from './compare-table.tsx'
import { loadBranch } from './load-branch.ts'
import { Outputs } from './outputs.tsx'
import './compare.css'

const fewest = 2
const most = 6

/** Two to six environments in columns. */
export function ComparePanel({ environments: marked, ...rest }: PanelProps) {
  // What is about to go cannot be looked at any more.
  const environments = marked.filter(({ status }) => status !== 'removing')
  if (environments.length < fewest || environments.length > most) {
    return (
      <EmptyState title={`Mark ${fewest} to ${most} environments`}>
        {environments.length} marked so far. Press <kbd>x</kbd> or Shift-click in the tree, then
        come back.
      </EmptyState>
    )
  }
  return <Comparison {...rest} environments={environments} />
}

/** The tree is loaded again by itself, and this page after it. */
const noRefresh = async () => {}

function Comparison({ session, environments, forest }: PanelProps) {
  const actions = useActions(session, noRefresh)
  const [order, setOrder] = useState<readonly string[]>([])
  const key = environments.map(({ id, status }) => `${id} ${status}`).join()
  const { loaded, reload } = useLoaded(key, (signal) =>
    Promise.all(environments.map((each) => loadBranch(session, each, signal))),
  )
  const shown = useMemo(() => {
    const all = loaded.state === 'ready' ? loaded.value : []
    const place = (id: string) => (order.includes(id) ? order.indexOf(id) : all.length)
    return [...all].sort((a, b) => place(a.node.id) - place(b.node.id))
  }, [loaded, order])
  if (loaded.state === 'loading') return <LoadingState what="the comparison" />
  if (loaded.state === 'failed') return <ErrorState error={loaded.error} onRetry={reload} />
  return (
    <div className="compare">
      <CompareTable
        {...{ session, forest, actions }}
        branches={shown}
        onOrder={(ids) => setOrder(ids)}
        onReload={reload}
      />
      <Outputs session={session} branches={shown} />
      <CompareFiles key={key} {...{ session, forest }} nodes={shown.map(({ node }) => node)} />
      {actions.dialog}
    </div>
  )
}
