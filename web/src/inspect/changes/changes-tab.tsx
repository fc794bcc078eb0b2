import { useMemo, useState } from 'react'
import { type NodeId, nameOf } from '../../forest/forest.ts'
import { formatBytes } from '../../ui/format.ts'
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import type { TabProps } from '../inspector.tsx'
import { type ChangeDirectory, changeTree, type FileChange } from './change-tree.ts'
import { FileDiff } from './file-diff.tsx'

/** The files that changed since the snapshot before, or against any other node. */
export function ChangesTab({ session, target }: TabProps) {
  const { node, forest } = target
  const [against, setAgainst] = useState<NodeId | null>(null)
  const [path, setPath] = useState<string | null>(null)
  const question = against === null ? { of: node.id } : { of: against, to: node.id }
  const key = JSON.stringify(question)
  const { loaded, reload } = useLoaded(key, (signal) =>
    session.client.call('files.diff', question, { signal }),
  )
  const others = [...forest.nodes.values()].filter(({ id }) => id !== node.id)
  return (
    <div className="changes">
      <div className="changes-bar">
        <label>
          <span className="faint">Changed since </span>
          <select
            className="field"
            value={against ?? ''}
            onChange={(event) => {
              setPath(null)
              setAgainst(others.find(({ id }) => id === event.target.value)?.id ?? null)
            }}
          >
            <option value="">the snapshot before</option>
            {others.map((each) => (
              <option key={each.id} value={each.id}>
                {each.kind} {nameOf(each)}
              </option>
            ))}
          </select>
        </label>
        <button type="button" className="button" onClick={reload}>
          Look again
        </button>
      </div>
      {loaded.state === 'loading' && <LoadingState what="changes" />}
      {loaded.state === 'failed' && <ErrorState error={loaded.error} onRetry={reload} />}
      {loaded.state === 'ready' && (
        <div className="changes-split">
          <ChangeList changes={loaded.value.changes} path={path} onPath={setPath} />
          {path !== null && (
            <FileDiff
              key={`${key} ${path}`}
              session={session}
              node={node}
              question={question}
              change={loaded.value.changes.find((each) => each.path === path)}
            />
          )}
        </div>
      )}
    </div>
  )
}

interface ChangeListProps {
  readonly changes: readonly FileChange[]
  readonly path: string | null
  onPath(path: string): void
}

const mostShown = 3000

function ChangeList({ changes, path, onPath }: ChangeListProps) {
  const tree = useMemo(() => changeTree(changes.slice(0, mostShown)), [changes])
  if (changes.length === 0) {
    return <EmptyState title="No file changed">Both have the same files.</EmptyState>
  }
  return (
    <nav className="change-list" aria-label={`${changes.length} changed files`}>
      <Directory directory={tree} path={path} onPath={onPath} isTop />
      {changes.length > mostShown && (
        <p className="faint">and {changes.length - mostShown} more; `forkpoint diff` lists all</p>
      )}
    </nav>
  )
}

type DirectoryProps = Omit<ChangeListProps, 'changes'> & {
  readonly directory: ChangeDirectory
  readonly isTop?: boolean
}

function Directory({ directory, isTop = false, ...rest }: DirectoryProps) {
  const inside = (
    <>
      {directory.directories.map((each) => (
        <Directory key={each.path} directory={each} {...rest} />
      ))}
      {directory.changes.map((change) => (
        <ChangeButton key={change.path} change={change} {...rest} />
      ))}
    </>
  )
  if (isTop) return inside
  return (
    <details open>
      <summary>
        {directory.own !== null && <Sign kind={directory.own.kind} />}
        <span className="clip">{directory.name}</span>
        <span className="faint number"> {directory.count}</span>
      </summary>
      <div className="change-inner">{inside}</div>
    </details>
  )
}

const signs: Readonly<Record<FileChange['kind'], string>> = {
  added: '+',
  modified: '~',
  deleted: '−',
  type: '!',
  mode: 'm',
  owner: 'o',
  renamed: '→',
}

function Sign({ kind }: Pick<FileChange, 'kind'>) {
  return (
    <span className="change-sign" data-kind={kind} role="img" aria-label={kind}>
      {signs[kind]}
    </span>
  )
}

function ChangeButton({
  change,
  path,
  onPath,
}: Omit<ChangeListProps, 'changes'> & { change: FileChange }) {
  const { kind, sizeDelta } = change
  return (
    <button
      type="button"
      className="change"
      data-kind={kind}
      aria-pressed={change.path === path}
      title={change.path}
      onClick={() => onPath(change.path)}
    >
      <Sign kind={kind} />
      <span className="clip">{change.path.split('/').at(-1)}</span>
      {sizeDelta !== 0 && (
        <span className="faint number small">
          {sizeDelta > 0 ? '+' : '−'}
          {formatBytes(Math.abs(sizeDelta))}
        </span>
      )}
    </button>
  )
}
