import { useMemo, useState } from 'react'
import { type EnvironmentNode, type Forest, type NodeId, nameOf } from '../forest/forest.ts'
import type { FileChange } from '../inspect/changes/change-tree.ts'
import { FileDiff } from '../inspect/changes/file-diff.tsx'
import type { Session } from '../session/session.ts'
import { formatBytes } from '../ui/format.ts'
import { inkOf } from '../ui/ink.ts'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { useLoaded } from '../ui/use-loaded.ts'
import { commonAncestor } from './common-ancestor.ts'
import { type FileRow, fileRows } from './file-rows.ts'

interface CompareFilesProps {
  readonly session: Session
  readonly forest: Forest
  readonly nodes: readonly EnvironmentNode[]
}

interface Picked {
  readonly path: string
  readonly id: NodeId
}

/** The files that changed in each environment, against what they have in common or against one of them. */
export function CompareFiles({ session, forest, nodes }: CompareFilesProps) {
  const ancestor = useMemo(
    () =>
      commonAncestor(
        forest,
        nodes.map(({ id }) => id),
      ),
    [forest, nodes],
  )
  const [chosen, setChosen] = useState<NodeId | null>(null)
  const [picked, setPicked] = useState<Picked | null>(null)
  const base = chosen ?? ancestor ?? nodes[0]?.id ?? null
  const columns = nodes.filter(({ id }) => id !== base)
  const key = `${base} ${columns.map(({ id }) => id).join()}`
  const { loaded, reload } = useLoaded(key, async (signal) => {
    if (base === null) return []
    const diffs = columns.map(({ id }) =>
      session.client.call('files.diff', { of: base, to: id }, { signal }),
    )
    return fileRows((await Promise.all(diffs)).map(({ changes }) => changes))
  })
  const above = ancestor === null ? undefined : forest.nodes.get(ancestor)
  const node = columns.find(({ id }) => id === picked?.id)
  const rows = loaded.state === 'ready' ? loaded.value : []
  const index = columns.findIndex(({ id }) => id === picked?.id)
  const change = rows.find(({ path }) => path === picked?.path)?.changes[index] ?? undefined
  return (
    <section className="compare-part" aria-label="Files">
      <div className="compare-bar">
        <h2>Files</h2>
        <label>
          <span className="faint">Changed against </span>
          <select
            className="field"
            value={base ?? ''}
            onChange={(event) => {
              setPicked(null)
              const all = [above, ...nodes]
              setChosen(all.find((each) => each?.id === event.target.value)?.id ?? null)
            }}
          >
            {above && <option value={above.id}>what they grew from: {nameOf(above)}</option>}
            {nodes.map((each) => (
              <option key={each.id} value={each.id}>
                {nameOf(each)}
              </option>
            ))}
          </select>
        </label>
      </div>
      {loaded.state === 'loading' && <LoadingState what="files" />}
      {loaded.state === 'failed' && <ErrorState error={loaded.error} onRetry={reload} />}
      {loaded.state === 'ready' && (
        <FileTable rows={rows} columns={columns} picked={picked} onPick={setPicked} />
      )}
      {node !== undefined && change !== undefined && base !== null && (
        <FileDiff
          key={`${base} ${node.id} ${change.path}`}
          session={session}
          node={node}
          question={{ of: base, to: node.id }}
          change={change}
        />
      )}
    </section>
  )
}

interface FileTableProps {
  readonly rows: readonly FileRow[]
  readonly columns: readonly EnvironmentNode[]
  readonly picked: Picked | null
  onPick(picked: Picked): void
}

const mostRows = 500

function FileTable({ rows, columns, picked, onPick }: FileTableProps) {
  if (rows.length === 0) return <p className="faint">They have the same files.</p>
  return (
    <div className="compare-scroll compare-files">
      <table className="compare-table">
        <thead>
          <tr>
            <th scope="col">{rows.length} files</th>
            {columns.map((each) => (
              <th key={each.id} scope="col" style={{ borderTopColor: inkOf(each.id) }}>
                {nameOf(each)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, mostRows).map(({ path, changes }) => (
            <tr key={path}>
              <th scope="row">
                <code>{path}</code>
              </th>
              {columns.map((each, index) => (
                <td key={each.id}>
                  <Cell
                    {...{ path }}
                    of={nameOf(each)}
                    change={changes[index] ?? null}
                    isOn={picked?.path === path && picked.id === each.id}
                    onPick={() => onPick({ path, id: each.id })}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > mostRows && (
        <p className="faint">and {rows.length - mostRows} more; `forkpoint diff` lists all</p>
      )}
    </div>
  )
}

interface CellProps {
  readonly path: string
  readonly of: string
  readonly change: FileChange | null
  readonly isOn: boolean
  onPick(): void
}

function Cell({ path, of, change, isOn, onPick }: CellProps) {
  if (change === null) return <span className="faint">same</span>
  const { kind, sizeDelta } = change
  const size =
    sizeDelta === 0 ? '' : ` ${sizeDelta > 0 ? '+' : '−'}${formatBytes(Math.abs(sizeDelta))}`
  return (
    <button
      type="button"
      className="compare-change"
      data-kind={kind}
      aria-pressed={isOn}
      aria-label={`${kind}${size}: ${path} in ${of}`}
      onClick={onPick}
    >
      {kind}
      <span className="faint number">{size}</span>
    </button>
  )
}
