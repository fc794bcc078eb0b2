import type { Input } from 'forkpoint/client'
import { useState } from 'react'
import type { ForestNode } from '../../forest/forest.ts'
import type { Session } from '../../session/session.ts'
import { formatBytes } from '../../ui/format.ts'
import { ErrorState, LoadingState } from '../../ui/states.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import { ImageView, isImage } from '../files/image-view.tsx'
import type { FileChange } from './change-tree.ts'
import { DiffView } from './diff-view.tsx'
import { parsePatch } from './patch.ts'

interface FileDiffProps {
  readonly session: Session
  readonly node: ForestNode
  readonly question: Input<'files.diff'>
  readonly change: FileChange | undefined
}

type Form = 'unified' | 'side by side'

/** How one file changed: its lines, its picture, or its facts. */
export function FileDiff({ session, node, question, change }: FileDiffProps) {
  const [form, setForm] = useState<Form>('unified')
  const path = change?.path ?? ''
  const { loaded, reload } = useLoaded(path, async (signal) => {
    const wanted = { ...question, paths: [path], patch: 'text' as const }
    return parsePatch((await session.client.call('files.diff', wanted, { signal })).patch)
  })
  if (change === undefined) return null
  const hasLines = loaded.state === 'ready' && loaded.value.kind !== 'binary'
  const isLive = node.kind === 'environment' && node.status === 'running' && session.can('exec')
  return (
    <section className="file-diff" aria-label={`Changes of ${path}`}>
      <header className="file-diff-head">
        <code className="clip">{path}</code>
        <span className="file-diff-forms">
          {(hasLines ? (['unified', 'side by side'] as const) : []).map((each) => (
            <button
              key={each}
              type="button"
              className="button"
              data-tone="quiet"
              aria-pressed={each === form}
              onClick={() => setForm(each)}
            >
              {each}
            </button>
          ))}
        </span>
      </header>
      <FactsLine change={change} />
      {isImage(path) && change.after !== null && isLive && (
        <ImageView session={session} id={node.id} path={path} />
      )}
      {loaded.state === 'loading' && <LoadingState what="the file" />}
      {loaded.state === 'failed' && <ErrorState error={loaded.error} onRetry={reload} />}
      {loaded.state === 'ready' &&
        (loaded.value.kind === 'binary' ? (
          <p className="faint">A binary file: its bytes differ.</p>
        ) : (
          <DiffView hunks={loaded.value.hunks} form={form} />
        ))}
    </section>
  )
}

/** What changed beside the content. */
function FactsLine({ change: { kind, before, after, from } }: { change: FileChange }) {
  const files = [before, after].filter((file) => file !== null)
  const sizes = files.map((file) => formatBytes(file.sizeBytes))
  const modes = files.map((file) => file.mode.toString(8))
  const owners = files.map((file) => `${file.uid}:${file.gid}`)
  const pair = (words: readonly string[]) => [...new Set(words)].join(' → ')
  return (
    <p className="small faint">
      {kind}
      {from !== undefined && ` from ${from}`} · {pair(sizes)} · mode {pair(modes)} · owner{' '}
      {pair(owners)}
    </p>
  )
}
