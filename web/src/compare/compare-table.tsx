import type { ReactNode } from 'react'
import type { Actions } from '../actions/use-actions.tsx'
import { navigate } from '../app/route.ts'
import { type EnvironmentNode, environmentsOf, type Forest, nameOf } from '../forest/forest.ts'
import type { Session } from '../session/session.ts'
import { Age } from '../ui/age.tsx'
import { formatBytes } from '../ui/format.ts'
import { inkOf } from '../ui/ink.ts'
import type { Branch } from './load-branch.ts'
import { bestOf, metricNames } from './metrics.ts'
import { losersVerb, winnerVerb } from './winner.ts'

interface CompareTableProps {
  readonly session: Session
  readonly forest: Forest
  readonly actions: Actions
  readonly branches: readonly Branch[]
  /** Puts the columns in another order. */
  onOrder(ids: readonly string[]): void
  onReload(): void
}

/** Scores and sizes: a row each, with a column for each environment. */
export function CompareTable(props: CompareTableProps) {
  const { session, forest, actions, branches, onOrder, onReload } = props
  const all = branches.map(({ metrics }) => metrics)
  const best = bestOf(all)
  const nodes = branches.map(({ node }) => node)
  const sortBy = (measure: (branch: Branch) => number) =>
    onOrder([...branches].sort((a, b) => measure(b) - measure(a)).map(({ node }) => node.id))
  const row = (
    name: string,
    show: (branch: Branch) => ReactNode,
    measure: (branch: Branch) => number,
  ) => (
    <tr key={name}>
      <th scope="row">
        <button
          type="button"
          className="compare-sort"
          title="The largest first"
          aria-label={`Sort by ${name}`}
          onClick={() => sortBy(measure)}
        >
          {name} <span aria-hidden="true">⇄</span>
        </button>
      </th>
      {branches.map((branch, index) => (
        <td key={branch.node.id} className="number" data-best={index === best}>
          {show(branch)}
        </td>
      ))}
    </tr>
  )
  return (
    <section className="compare-part" aria-label="Scores and sizes">
      <div className="compare-scroll">
        <table className="compare-table">
          <thead>
            <tr>
              <th scope="col">
                <button type="button" className="button" onClick={onReload}>
                  Look again
                </button>
              </th>
              {branches.map(({ node }, index) => (
                <th key={node.id} scope="col" style={{ borderTopColor: inkOf(node.id) }}>
                  <Head {...{ session, forest, actions, node, nodes }} isBest={index === best} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {metricNames(all).map((name) =>
              row(
                name,
                ({ metrics }) => metrics.get(name) ?? '—',
                ({ metrics }) => metrics.get(name) ?? Number.NEGATIVE_INFINITY,
              ),
            )}
            {row(
              'memory',
              ({ stats }) => (stats === null ? '—' : formatBytes(stats.memory.totalBytes)),
              ({ stats }) => stats?.memory.totalBytes ?? -1,
            )}
            {row(
              'files changed',
              ({ stats }) => (stats === null ? '—' : formatBytes(stats.diskBytes)),
              ({ stats }) => stats?.diskBytes ?? -1,
            )}
            {row(
              'processes',
              ({ stats }) => stats?.processes ?? '—',
              ({ stats }) => stats?.processes ?? -1,
            )}
            {row(
              'age',
              ({ node }) => (
                <Age at={node.createdAt} />
              ),
              ({ node }) => -node.createdAt,
            )}
          </tbody>
        </table>
      </div>
    </section>
  )
}

interface HeadProps extends Pick<CompareTableProps, 'session' | 'forest' | 'actions'> {
  readonly node: EnvironmentNode
  readonly nodes: readonly EnvironmentNode[]
  readonly isBest: boolean
}

/** The name of a column, and what can be done with it. */
function Head({ session, forest, actions, node, nodes, isBest }: HeadProps) {
  const isAlive = ({ status }: EnvironmentNode) => status === 'running' || status === 'paused'
  const others = environmentsOf(forest).filter((each) => each.id !== node.id && isAlive(each))
  // Where the branches came from is the most likely place for the winner.
  const outside = others.filter(({ id }) => !nodes.some((each) => each.id === id))
  const targets = [...outside, ...others.filter((each) => !outside.includes(each))]
  const canPromote = session.can('branch') && node.status === 'running' && targets.length > 0
  return (
    <div className="compare-head">
      <span className="compare-name">
        <button
          type="button"
          className="compare-link clip"
          onClick={() => navigate({ page: 'node', id: node.id, tab: 'overview' })}
        >
          {nameOf(node)}
        </button>
        {isBest && <span className="compare-best">best score</span>}
        {node.status !== 'running' && <span className="faint">{node.status}</span>}
      </span>
      <span className="compare-verbs">
        {canPromote && (
          <button
            type="button"
            className="button"
            data-tone={isBest ? 'main' : undefined}
            aria-label={`Promote ${nameOf(node)}`}
            onClick={() => actions.begin(winnerVerb(node, nodes, targets), null)}
          >
            Promote
          </button>
        )}
        {session.can('branch') && (
          <button
            type="button"
            className="button"
            data-tone="quiet"
            aria-label={`Keep only this: remove all but ${nameOf(node)}`}
            onClick={() => actions.begin(losersVerb(node, nodes), null)}
          >
            Keep only this
          </button>
        )}
      </span>
    </div>
  )
}
