import type { RefObject } from 'react'
import { zooms } from './geometry.ts'
import { type Filter, noFilter, type StatusFilter } from './search.ts'

interface ForestBarProps {
  readonly filter: Filter
  readonly labels: readonly string[]
  readonly zoom: number
  readonly searchField: RefObject<HTMLInputElement | null>
  /** how many nodes are shown, and there are */
  readonly shown: number
  readonly all: number
  onFilter(filter: Filter): void
  onZoom(zoom: number): void
  onFit(): void
  onFold(how: 'all' | 'none'): void
}

const statuses: Readonly<Record<StatusFilter, string>> = {
  all: 'everything',
  environments: 'environments',
  running: 'running',
  asleep: 'paused or released',
  snapshots: 'snapshots',
}

/** Searching, filtering and zooming the tree. */
export function ForestBar(props: ForestBarProps) {
  const { filter, labels, zoom, onFilter, onZoom } = props
  const isFiltered = filter !== noFilter
  return (
    <div className="forest-bar">
      <input
        ref={props.searchField}
        className="field forest-search"
        type="search"
        aria-label="Search the tree"
        placeholder="Search  /"
        value={filter.words}
        onChange={(event) => onFilter(cleared({ ...filter, words: event.target.value }))}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onFilter(noFilter)
        }}
      />
      <select
        className="field"
        aria-label="Filter by status"
        value={filter.status}
        onChange={(event) => onFilter(cleared({ ...filter, status: statusIn(event.target.value) }))}
      >
        {Object.entries(statuses).map(([status, words]) => (
          <option key={status} value={status}>
            {words}
          </option>
        ))}
      </select>
      {labels.length > 0 && (
        <select
          className="field"
          aria-label="Filter by label"
          value={filter.label}
          onChange={(event) => onFilter(cleared({ ...filter, label: event.target.value }))}
        >
          <option value="">any label</option>
          {labels.map((label) => (
            <option key={label}>{label}</option>
          ))}
        </select>
      )}
      <span className="faint small number" role="status">
        {isFiltered ? `${props.shown} of ${props.all}` : props.all}
      </span>
      <span className="forest-tools">
        <Tool words="Fold all" sign="⊟" onClick={() => props.onFold('all')} />
        <Tool words="Unfold all" sign="⊞" onClick={() => props.onFold('none')} />
        <Tool words="Zoom out" sign="−" isOff={zoom === 0} onClick={() => onZoom(zoom - 1)} />
        <Tool
          words="Zoom in"
          sign="+"
          isOff={zoom === zooms.length - 1}
          onClick={() => onZoom(zoom + 1)}
        />
        <Tool words="Fit" sign="⤢" onClick={props.onFit} />
      </span>
    </div>
  )
}

interface ToolProps {
  readonly words: string
  readonly sign: string
  readonly isOff?: boolean
  onClick(): void
}

function Tool({ words, sign, isOff = false, onClick }: ToolProps) {
  return (
    <button
      type="button"
      className="button"
      data-tone="quiet"
      aria-label={words}
      title={words}
      disabled={isOff}
      onClick={onClick}
    >
      {sign}
    </button>
  )
}

function statusIn(text: string): StatusFilter {
  const keys = Object.keys(statuses) as StatusFilter[]
  return keys.find((key) => key === text) ?? 'all'
}

/** The one filter that excludes nothing, if this is one. */
function cleared(filter: Filter): Filter {
  const isEmpty = filter.words === '' && filter.status === 'all' && filter.label === ''
  return isEmpty ? noFilter : filter
}
