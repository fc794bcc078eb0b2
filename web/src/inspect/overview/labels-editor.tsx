import { type FormEvent, useState } from 'react'
import { notifyError } from '../../app/notices.ts'
import type { Session } from '../../session/session.ts'
import { Section } from './facts.tsx'
import type { Info } from './overview-tab.tsx'

interface EditorProps {
  readonly info: Info
  readonly session: Session
  onChanged(): Promise<void>
}

/** Labels, which whoever may can add and remove. */
export function LabelsEditor({ info, session, onChanged }: EditorProps) {
  const [text, setText] = useState('')
  const canEdit = session.can('branch')
  const own = session.principal.labels
  const all = Object.entries(info.labels)
  const change = async (labels: Readonly<Record<string, string | null>>) => {
    try {
      const { client } = session
      if (info.kind === 'snapshot') await client.call('snapshot.label', { id: info.id, labels })
      else await client.call('environment.label', { id: info.id, labels })
      await onChanged()
    } catch (error) {
      notifyError(error)
    }
  }
  const add = (event: FormEvent) => {
    event.preventDefault()
    const [key = '', ...rest] = text.split('=')
    if (key.trim() === '') return
    setText('')
    void change({ [key.trim()]: rest.join('=').trim() })
  }
  if (all.length === 0 && !canEdit) return null
  return (
    <Section title="Labels">
      <ul className="labels">
        {all.map(([key, value]) => (
          <li key={key} className="label">
            {value === '' ? key : `${key}=${value}`}
            {canEdit && !(key in own) && (
              <button
                type="button"
                className="label-remove"
                aria-label={`Remove label ${key}`}
                onClick={() => void change({ [key]: null })}
              >
                ×
              </button>
            )}
          </li>
        ))}
        {canEdit && (
          <li>
            <form onSubmit={add}>
              <input
                className="field label-field"
                aria-label="New label"
                placeholder="key=value"
                value={text}
                onChange={(event) => setText(event.target.value)}
              />
            </form>
          </li>
        )}
      </ul>
    </Section>
  )
}
