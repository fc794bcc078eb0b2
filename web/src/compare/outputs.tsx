import { nameOf } from '../forest/forest.ts'
import type { Session } from '../session/session.ts'
import { formatMs } from '../ui/format.ts'
import { inkOf } from '../ui/ink.ts'
import type { Branch, LastCommand } from './load-branch.ts'

interface OutputsProps {
  readonly session: Session
  readonly branches: readonly Branch[]
}

/** What the last command of each environment printed. */
export function Outputs({ session, branches }: OutputsProps) {
  if (!session.can('exec')) return null
  return (
    <section className="compare-part" aria-label="Last commands">
      <h2>Last command</h2>
      <div className="compare-outputs">
        {branches.map(({ node, last }) => (
          <article
            key={node.id}
            className="compare-output"
            aria-label={`Last command of ${nameOf(node)}`}
            style={{ borderTopColor: inkOf(node.id) }}
          >
            <h3>{nameOf(node)}</h3>
            {last === null ? <p className="faint">No command ran here.</p> : <Output last={last} />}
          </article>
        ))}
      </div>
    </section>
  )
}

/** Of long output, the end. */
const mostShown = 20_000

function Output({ last: { command, output } }: { last: LastCommand }) {
  const text = [output.stdout, output.stderr].filter(Boolean).join('\n').slice(-mostShown)
  return (
    <>
      <p className="compare-command">
        <code className="clip" title={command.command}>
          {command.command}
        </code>
        <span className="number" data-failed={hasFailed(command)}>
          {endWords(command)}
        </span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with keys */}
      <pre tabIndex={0}>
        {text === '' ? <span className="faint">It printed nothing.</span> : text}
      </pre>
    </>
  )
}

function hasFailed({ exit }: LastCommand['command']): boolean {
  return exit !== null && exit.exitCode !== 0
}

function endWords({ exit, durationMs }: LastCommand['command']): string {
  const time = durationMs === null ? '' : `, ${formatMs(durationMs)}`
  if (exit === null) return `runs${time}`
  return `${exit.signal ?? `exit ${exit.exitCode}`}${time}`
}
