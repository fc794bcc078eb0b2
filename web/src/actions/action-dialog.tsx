import { type Client, ForkpointError } from 'forkpoint/client'
import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import { useLoaded } from '../ui/use-loaded.ts'
import type { Field, Question, Values } from './verb.ts'
import './actions.css'

interface ActionDialogProps {
  readonly question: Question
  readonly client: Client
  /** Rejects if it could not be done; the dialog then stays, with the reason. */
  onRun(values: Values): Promise<void>
  onClose(): void
}

/** Asks what a verb has to know, and says what it will do. */
export function ActionDialog({ question, client, onRun, onClose }: ActionDialogProps) {
  const { title, says, tone, confirm, fields } = question
  const place = useRef<HTMLDialogElement>(null)
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.map(({ name, initial }) => [name, initial])),
  )
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  /** What it would do, if it can tell. */
  const [found, setFound] = useState<number | null>(null)
  const titleId = useId()
  useEffect(() => place.current?.showModal(), [])
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      await onRun(values)
      onClose()
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  return (
    <dialog ref={place} className="dialog" aria-labelledby={titleId} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id={titleId}>{title}</h2>
        <p className="faint">{says}</p>
        {fields.map((field) => (
          <FieldView
            key={field.name}
            field={field}
            value={values[field.name] ?? ''}
            onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
          />
        ))}
        {question.preview && <Preview {...{ client, question, values }} onFound={setFound} />}
        {error !== null && <Failure error={error} />}
        <div className="dialog-buttons">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className="button"
            data-tone={tone}
            disabled={isBusy || found === 0}
          >
            {isBusy ? 'Working…' : confirm}
          </button>
        </div>
      </form>
    </dialog>
  )
}

interface FieldViewProps {
  readonly field: Field
  readonly value: string
  onChange(value: string): void
}

function FieldView({ field, value, onChange }: FieldViewProps) {
  const id = useId()
  const { label, kind, hint, options = [], isRequired = false } = field
  if (kind === 'check') {
    return (
      <label className="dialog-check">
        <input
          type="checkbox"
          checked={value === 'yes'}
          onChange={(event) => onChange(event.target.checked ? 'yes' : '')}
        />
        {label}
      </label>
    )
  }
  return (
    <div className="dialog-field">
      <label htmlFor={id}>{label}</label>
      {kind === 'choice' ? (
        <select
          id={id}
          className="field"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          {options.map(([option, words]) => (
            <option key={option} value={option}>
              {words}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          className="field"
          type={kind}
          min={kind === 'number' ? 0 : undefined}
          autoComplete="off"
          spellCheck={false}
          required={isRequired}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      {hint && <span className="small faint">{hint}</span>}
    </div>
  )
}

interface PreviewProps extends Pick<ActionDialogProps, 'question' | 'client'> {
  readonly values: Values
  onFound(count: number | null): void
}

function Preview({ question, client, values, onFound }: PreviewProps) {
  const { loaded } = useLoaded(
    JSON.stringify(values),
    async () => (await question.preview?.(client, values)) ?? [],
  )
  const count = loaded.state === 'ready' ? loaded.value.length : null
  useEffect(() => onFound(count), [onFound, count])
  if (loaded.state === 'loading') return <p role="status">Looking…</p>
  if (loaded.state === 'failed') return <Failure error={loaded.error} />
  const { value: lines } = loaded
  if (lines.length === 0) return <p role="status">Nothing would be removed.</p>
  return (
    <div className="dialog-preview">
      <p>{`${lines.length} would be removed:`}</p>
      <ul>
        {lines.map((line) => (
          <li key={line} className="clip">
            {line}
          </li>
        ))}
      </ul>
    </div>
  )
}

function Failure({ error }: { error: unknown }) {
  const known = error instanceof ForkpointError ? error : null
  return (
    <p role="alert" className="dialog-failure">
      {known?.message ?? String(error)}
      {known?.remedy && <span className="faint"> {known.remedy}</span>}
    </p>
  )
}
