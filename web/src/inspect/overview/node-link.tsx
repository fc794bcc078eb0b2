import { formatRoute, navigate } from '../../app/route.ts'
import { type Forest, type NodeId, nameOf, ownerOf, shortId } from '../../forest/forest.ts'
import { inkOf } from '../../ui/ink.ts'

/** Another node, by its name and in its ink. */
export function NodeLink({ id, forest }: { id: NodeId; forest: Forest }) {
  const node = forest.nodes.get(id)
  if (node === undefined) return <span className="faint">{shortId(id)} (gone)</span>
  const route = { page: 'node', id, tab: 'overview' } as const
  return (
    <a
      className="node-link"
      style={{ borderColor: inkOf(ownerOf(node)) }}
      href={formatRoute(route)}
      onClick={(event) => {
        event.preventDefault()
        navigate(route)
      }}
    >
      {nameOf(node)}
    </a>
  )
}
