import { useMemo, useState } from 'react'
import { useActions } from '../actions/use-actions.tsx'
import type { PanelProps } from '../app/panel.ts'
import { useStore } from '../state/store.ts'
import { EmptyState } from '../ui/states.tsx'
import { BranchTile } from './branch-tile.tsx'
import { createReceivers, type TypeInto } from './receivers.ts'
import './terminals.css'

/** Terminals of several environments, side by side. */
export function TerminalsPanel(props: PanelProps) {
  const { environments } = props
  if (environments.length === 0) {
    return (
      <EmptyState title="No environment is marked">
        Mark some in the tree with <kbd>x</kbd> or Shift-click. Their terminals are then here, side
        by side.
      </EmptyState>
    )
  }
  return <Grid {...props} />
}

/** The tree shows what is done here by itself. */
const noRefresh = async () => {}

function Grid({ session, environments }: PanelProps) {
  const [into, setInto] = useState<TypeInto>('one')
  const receivers = useMemo(createReceivers, [])
  const actions = useActions(session, noRefresh)
  const mayType = session.can('exec')
  return (
    <div className="terminals">
      <div className="terminals-bar" data-into={into}>
        {mayType && environments.length > 1 && (
          <fieldset className="terminals-into">
            <legend className="hidden-text">Type into</legend>
            <Choice into="one" words="Type into one" chosen={into} onChoose={setInto} />
            <Choice into="all" words="Type into all" chosen={into} onChoose={setInto} />
          </fieldset>
        )}
        <p role="status" className="clip">
          {!mayType ? (
            <span className="faint">
              You may only watch: typing needs the scope <code>exec</code>.
            </span>
          ) : into === 'one' ? (
            <span className="faint">What you type goes to the terminal with the focus.</span>
          ) : (
            <IntoAll receivers={receivers} all={environments.length} />
          )}
        </p>
      </div>
      <div className="terminals-grid" data-count={Math.min(environments.length, 6)}>
        {environments.map((environment) => (
          <BranchTile
            key={environment.id}
            {...{ session, environment, into, receivers, actions }}
          />
        ))}
      </div>
      {actions.dialog}
    </div>
  )
}

function IntoAll({
  receivers,
  all,
}: {
  receivers: ReturnType<typeof createReceivers>
  all: number
}) {
  const count = useStore(receivers.ids).size
  return (
    <strong>
      Whatever you type goes to {count} of {all} terminals at once.
    </strong>
  )
}

interface ChoiceProps {
  readonly into: TypeInto
  readonly words: string
  readonly chosen: TypeInto
  onChoose(into: TypeInto): void
}

function Choice({ into, words, chosen, onChoose }: ChoiceProps) {
  return (
    <button
      type="button"
      className="button"
      aria-pressed={chosen === into}
      onClick={() => onChoose(into)}
    >
      {words}
    </button>
  )
}
