import type { PanelProps } from '../app/panel.ts'
import { EmptyState, NotAllowed } from '../ui/states.tsx'

/** Terminals of several environments, side by side. */
export function TerminalsPanel({ session, environments }: PanelProps) {
  if (!session.can('exec')) return <NotAllowed scope="exec" what="A terminal" />
  return (
    <EmptyState title="Terminals">
      {environments.length} environments are marked. `forkpoint shell` opens a terminal in each.
    </EmptyState>
  )
}
