import { lazy, Suspense, useMemo } from 'react'
import { environmentsOf } from '../forest/forest.ts'
import { LoadingState } from '../ui/states.tsx'
import type { PanelProps } from './panel.ts'

// Apart, so that whoever looks at the tree does not load a terminal.
const TerminalsPanel = lazy(async () => ({
  default: (await import('../terminals/terminals-panel.tsx')).TerminalsPanel,
}))
const ComparePanel = lazy(async () => ({
  default: (await import('../compare/compare-panel.tsx')).ComparePanel,
}))

type PanelPageProps = Pick<PanelProps, 'session' | 'forest'> & {
  readonly page: 'terminals' | 'compare'
  readonly ids: readonly string[]
}

/** A panel over several environments. */
export function PanelPage({ page, ids, session, forest }: PanelPageProps) {
  const environments = useMemo(() => {
    const wanted = new Set(ids)
    return environmentsOf(forest).filter(({ id }) => wanted.has(id))
  }, [forest, ids])
  const props = { session, environments, forest }
  return (
    <main className="app-panel">
      <Suspense fallback={<LoadingState what={page} />}>
        {page === 'terminals' ? <TerminalsPanel {...props} /> : <ComparePanel {...props} />}
      </Suspense>
    </main>
  )
}
