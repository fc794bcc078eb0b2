import type { PanelProps } from '../app/panel.ts'
import { EmptyState } from '../ui/states.tsx'

/** Two to six environments in columns. */
export function ComparePanel({ environments }: PanelProps) {
  return (
    <EmptyState title="Compare">
      {environments.length} environments are marked. `forkpoint diff` compares two of them.
    </EmptyState>
  )
}
