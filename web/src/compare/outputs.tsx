import { type FormEvent, useState } from 'react'
import { type EnvironmentNode, nameOf } from '../forest/forest.ts'
import type { Session } from '../session/session.ts'
import { inkOf } from '../ui/ink.ts'
import type { Branch } from './load-branch.ts'
import { type Printed, printedBefore, printedFailure, printedNow } from './printed.ts'

interface OutputsProps {
  readonly session: Session
  readonly branches: readonly Branch[]
}

/** Null while the command runs. */
type Ran = ReadonlyMap<string, Printed | null>

/** What the last command of each environment printed; or one that is run in all of them now. */
export function Outputs({ session, branches }: OutputsProps) {
  const [ran, setRan] = useState<Ran>(new Map())
  if (!session.can('exec')) return null
  const live = branches.map(({ node }) => node).filter(({ status }) => status === 'running')
  const run = (command: string) => {
    setRan(new Map(live.map(({ id }) => [id, null])))
    for (const node of live) {
      void runIn(session, node, command).then((printed) =>
        setRan((before) => new Map(before).set(node.id, printed)),
      )
    }
  }
  const isBusy = [...ran.values()].includes(null)
  return (
    <section className="compare-part" aria-label="Last commands">
      <div className="compare-bar">
        <h2>Last command</h2>
        {live.length > 0 && <RunForm isBusy={isBusy} onRun={run} />}
      </div>
      <div className="compare-outputs">
        {branches.map(({ node, last }) => (
          <article
            key={node.id}
            className="compare-output"
            aria-label={`Last command of ${nameOf(node)}`}
            style={{ borderTopColor: inkOf(node.id) }}
          >
            <h3>{nameOf(node)}</h3>
            <Output printed={ran.get(node.id)} before={last && printedBefore(last)} />
          </article>
        ))}
      </div>
    </section>
  )
}

/** Beside whatever runs there, with the variables and the directory of the shell. */
async function runIn(
  { client }: Session,
  { id }: EnvironmentNode,
  command: string,
): Promise<Printed> {
  try {
    return printedNow(command, await client.exec(id, command, { mode: 'detached' }))
  } catch (error) {
    return printedFailure(command, error)
  }
}

function RunForm({ isBusy, onRun }: { isBusy: boolean; onRun(command: string): void }) {
  const [draft, setDraft] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onRun(draft)
  }
  return (
    <form className="compare-run" onSubmit={submit}>
      <input
        className="field mono"
        aria-label="Command to run in each"
        placeholder="make test"
        spellCheck={false}
        required
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
      />
      <button type="submit" className="button" disabled={isBusy}>
        {isBusy ? 'Running…' : 'Run in each'}
      </button>
    </form>
  )
}

interface OutputProps {
  /** undefined: nothing was run from here */
  readonly printed: Printed | null | undefined
  readonly before: Printed | null
}

function Output({ printed, before }: OutputProps) {
  if (printed === null) return <p role="status">Running…</p>
  const shown = printed ?? before
  if (shown === null) {
    return <p className="faint">No command has run here since it was started.</p>
  }
  return (
    <>
      <p className="compare-command">
        <code className="clip" title={shown.command}>
          {shown.command}
        </code>
        <span className="number" data-failed={shown.hasFailed}>
          {shown.end}
        </span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with keys */}
      <pre tabIndex={0}>
        {shown.text === '' ? <span className="faint">It printed nothing.</span> : shown.text}
      </pre>
    </>
  )
}
