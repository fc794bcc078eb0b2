import { inkOf } from '../ui/ink.ts'
import { type ForestNode, ownerOf } from './forest.ts'
import { laneX, type Zoom } from './geometry.ts'

/**
 * A snapshot is a ring on the stem, filled once it is safe on disk. An environment is the leaf at the tip: full while
 * it runs, half while it is paused, an outline once it is released, crossed out if it is dead.
 */
export function Glyph({ node, zoom, isBusy }: { node: ForestNode; zoom: Zoom; isBusy: boolean }) {
  const size = Math.min(zoom.laneWidth, zoom.rowHeight) - 2
  const ink = inkOf(ownerOf(node))
  return (
    <svg
      className={isBusy ? 'glyph glyph-busy' : 'glyph'}
      width={size}
      height={size}
      viewBox="-8 -8 16 16"
      style={{ left: laneX(zoom, 0) - size / 2 }}
      aria-hidden="true"
    >
      {node.kind === 'snapshot' ? <SnapshotShape node={node} ink={ink} /> : <Leaf node={node} />}
    </svg>
  )
}

type Of<K extends ForestNode['kind']> = Extract<ForestNode, { kind: K }>

function SnapshotShape({ node, ink }: { node: Of<'snapshot'>; ink: string }) {
  const color = node.status === 'failed' ? 'var(--harm)' : ink
  const hasProcesses = node.captured.includes('processes')
  return (
    <>
      {hasProcesses ? (
        <circle r="5" fill={node.durable ? color : 'var(--paper)'} stroke={color} strokeWidth="2" />
      ) : (
        <rect
          x="-4.5"
          y="-4.5"
          width="9"
          height="9"
          rx="1"
          fill={node.durable ? color : 'var(--paper)'}
          stroke={color}
          strokeWidth="2"
        />
      )}
      {node.status === 'failed' && (
        <path d="M-3 -3L3 3M3 -3L-3 3" stroke="var(--paper)" strokeWidth="2" />
      )}
    </>
  )
}

const leaf = 'M-7 0C-4 -6 4 -7 7 -7C7 -1 5 6 -7 6Z'

function Leaf({ node: { status } }: { node: Of<'environment'> }) {
  switch (status) {
    case 'running':
      return <path d={leaf} fill="var(--live)" stroke="var(--live)" strokeWidth="1.5" />
    case 'paused':
      return (
        <>
          <path d={leaf} fill="var(--paper)" stroke="var(--still)" strokeWidth="1.5" />
          <path d="M-7 1C-2 -1 3 -4 7 -7C7 -1 5 6 -7 6Z" fill="var(--still)" />
        </>
      )
    case 'dead':
      return (
        <>
          <path d={leaf} fill="var(--paper)" stroke="var(--harm)" strokeWidth="1.5" />
          <path d="M-4 4L4 -4" stroke="var(--harm)" strokeWidth="1.5" />
        </>
      )
    default:
      return (
        <path
          d={leaf}
          fill="var(--paper)"
          stroke="var(--ink-soft)"
          strokeWidth="1.5"
          strokeDasharray={status === 'released' ? undefined : '3 2'}
        />
      )
  }
}
