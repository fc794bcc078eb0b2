import type { Client } from 'forkpoint/client'
import { useCallback, useDeferredValue, useMemo, useRef, useState } from 'react'
import { isTyping, useKeys } from '../app/keys.ts'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import type { ForestNode, NodeId } from './forest.ts'
import { ForestBar } from './forest-bar.tsx'
import { ForestView } from './forest-view.tsx'
import { fittingZoom, usualZoom, zooms } from './geometry.ts'
import { layoutRows, type Row } from './layout.ts'
import { foundBy, labelsIn, noFilter } from './search.ts'
import type { Watched } from './watch-forest.ts'

interface ForestPaneProps {
  readonly client: Client
  readonly watched: Watched
  readonly selected: string | null
  readonly marked: ReadonlySet<string>
  onOpen(node: ForestNode): void
  onMark(node: ForestNode): void
  onRetry(): void
}

/** The tree with its tools, and what is shown where there is no tree. */
export function ForestPane(props: ForestPaneProps) {
  const { watched, selected, onOpen, onMark } = props
  const { forest } = watched
  const [filter, setFilter] = useState(noFilter)
  const [folded, setFolded] = useState<ReadonlySet<NodeId>>(new Set())
  const [zoom, setZoom] = useState(usualZoom)
  const [active, setActive] = useState<NodeId | null>(null)
  const [height, setHeight] = useState(0)
  const searchField = useRef<HTMLInputElement>(null)
  const wanted = useDeferredValue(filter)
  const found = useMemo(() => foundBy(forest, wanted), [forest, wanted])
  const rows = useMemo(() => layoutRows(forest, { folded, found }), [forest, folded, found])
  const labels = useMemo(() => labelsIn(forest), [forest])
  const open = useCallback(
    ({ node }: Row) => {
      setActive(node.id)
      onOpen(node)
    },
    [onOpen],
  )
  const fold = useCallback((row: Row) => setFolded((before) => toggled(before, row.node.id)), [])
  const mark = useCallback(({ node }: Row) => onMark(node), [onMark])
  const fit = () => setZoom(fittingZoom(rows.length, height))
  useKeys((event) => {
    if (isTyping(event)) return false
    if (event.key === '/') searchField.current?.focus()
    else if (event.key === '+') setZoom((now) => Math.min(zooms.length - 1, now + 1))
    else if (event.key === '-') setZoom((now) => Math.max(0, now - 1))
    else if (event.key === '0') fit()
    else return false
    return true
  })
  const shape = zooms[zoom]
  if (watched.state === 'loading') return <LoadingState lines={12} what="the tree" />
  if (watched.state === 'failed')
    return <ErrorState error={watched.error} onRetry={props.onRetry} />
  if (shape === undefined) return null
  return (
    <>
      <ForestBar
        filter={filter}
        labels={labels}
        zoom={zoom}
        searchField={searchField}
        shown={found?.size ?? forest.nodes.size}
        all={forest.nodes.size}
        onFilter={setFilter}
        onZoom={setZoom}
        onFit={fit}
        onFold={(how) => setFolded(how === 'none' ? new Set() : new Set(forest.children.keys()))}
      />
      {rows.length === 0 ? (
        <Nothing isFiltered={found !== null} />
      ) : (
        <ForestView
          rows={rows}
          zoom={shape}
          selected={forest.nodes.get(selected as NodeId)?.id ?? null}
          active={active}
          marked={props.marked}
          operations={watched.operations}
          client={props.client}
          onOpen={open}
          onFold={fold}
          onMark={mark}
          onActive={setActive}
          onHeight={setHeight}
        />
      )}
    </>
  )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return <EmptyState title="Nothing found">No name, message or label has these words.</EmptyState>
  }
  return (
    <EmptyState title="Nothing has grown here yet">
      Create an environment with <kbd>c</kbd>, or on the command line with{' '}
      <code>forkpoint create web</code>. It appears here at once.
    </EmptyState>
  )
}

function toggled(before: ReadonlySet<NodeId>, id: NodeId): ReadonlySet<NodeId> {
  const next = new Set(before)
  if (!next.delete(id)) next.add(id)
  return next
}
