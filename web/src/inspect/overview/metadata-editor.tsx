import type { Input, Output } from 'forkpoint/client'
import { useState } from 'react'
import { notify, notifyError } from '../../app/notices.ts'
import type { Session } from '../../session/session.ts'
import { Section } from './facts.tsx'

interface MetadataEditorProps {
  readonly info: Output<'snapshot.get'>
  readonly session: Session
  onChanged(): Promise<void>
}

type Metadata = Input<'snapshot.annotate'>['metadata']

/** The data that a program keeps with a snapshot, such as a score, as JSON. */
export function MetadataEditor({ info, session, onChanged }: MetadataEditorProps) {
  const [draft, setDraft] = useState<string | null>(null)
  const canEdit = session.can('branch')
  const text = info.metadata === null ? '' : JSON.stringify(info.metadata, null, 2)
  if (!canEdit && text === '') return null
  const save = async () => {
    const metadata = parsed(draft ?? '')
    if (metadata === undefined) {
      return notify({ tone: 'harm', text: 'This is not JSON.', remedy: 'try { "score": 0.9 }' })
    }
    try {
      await session.client.call('snapshot.annotate', { id: info.id, metadata })
      setDraft(null)
      await onChanged()
    } catch (error) {
      notifyError(error)
    }
  }
  return (
    <Section title="Metadata">
      {draft === null ? (
        <>
          {text !== '' && <pre className="metadata">{text}</pre>}
          {canEdit && (
            <button type="button" className="button" onClick={() => setDraft(text)}>
              {text === '' ? 'Add' : 'Edit'}
            </button>
          )}
        </>
      ) : (
        <>
          <textarea
            className="field metadata"
            aria-label="Metadata as JSON"
            rows={6}
            value={draft}
            onChange={(event) => setDraft(event.target.value)}
          />
          <div className="dialog-buttons">
            <button type="button" className="button" onClick={() => setDraft(null)}>
              Cancel
            </button>
            <button type="button" className="button" data-tone="main" onClick={() => void save()}>
              Save
            </button>
          </div>
        </>
      )}
    </Section>
  )
}

/** Undefined: not JSON. Empty text takes the metadata away. */
function parsed(text: string): Metadata | undefined {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
