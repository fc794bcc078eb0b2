import { ancestorsOf, descendantsOf, type Forest, type ForestNode } from '../../forest/forest.ts'
import { Section } from './facts.tsx'
import { NodeLink } from './node-link.tsx'

const shown = 30

/** From its root down to it, and what grew from it. */
export function Lineage({ node, forest }: { node: ForestNode; forest: Forest }) {
  const above = ancestorsOf(forest, node.id)
  const below = forest.children.get(node.id) ?? []
  const all = descendantsOf(forest, node.id).length
  if (above.length === 0 && below.length === 0) return null
  return (
    <Section title="Lineage">
      {above.length > 0 && (
        <ol className="lineage" aria-label="What it grew from">
          {above.length > shown && <li className="faint">{above.length - shown} more</li>}
          {above
            .slice(0, shown)
            .reverse()
            .map((id) => (
              <li key={id}>
                <NodeLink id={id} forest={forest} />
              </li>
            ))}
        </ol>
      )}
      {below.length > 0 && (
        <p>
          <span className="faint">grew from it ({all} in all): </span>
          <span className="lineage-below">
            {below.slice(0, shown).map((id) => (
              <NodeLink key={id} id={id} forest={forest} />
            ))}
          </span>
        </p>
      )}
    </Section>
  )
}
