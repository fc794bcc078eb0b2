import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react'
import '../actions/actions.css'

/** One thing that can be chosen from the palette. */
export interface Choice {
  readonly id: string
  readonly title: string
  /** what it is about, such as the node */
  readonly about: string
  readonly key?: string
  choose(): void
}

interface PaletteProps {
  readonly choices: readonly Choice[]
  onClose(): void
}

const mostShown = 60

/** Everything that can be done, found by typing. */
export function Palette({ choices, onClose }: PaletteProps) {
  const place = useRef<HTMLDialogElement>(null)
  const [words, setWords] = useState('')
  const [at, setAt] = useState(0)
  const listId = useId()
  useEffect(() => place.current?.showModal(), [])
  const shown = useMemo(() => matching(choices, words), [choices, words])
  const current = shown[Math.min(at, shown.length - 1)]
  const choose = (choice: Choice | undefined) => {
    onClose()
    choice?.choose()
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt((now) => Math.min(shown.length - 1, now + 1))
    else if (event.key === 'ArrowUp') setAt((now) => Math.max(0, now - 1))
    else if (event.key === 'Enter') choose(current)
    else return
    event.preventDefault()
  }
  return (
    <dialog ref={place} className="dialog palette" aria-label="Commands" onClose={onClose}>
      <input
        className="palette-field"
        role="combobox"
        aria-label="Command"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={current && `${listId}-${current.id}`}
        placeholder="What do you want to do?"
        autoComplete="off"
        spellCheck={false}
        value={words}
        onChange={(event) => {
          setWords(event.target.value)
          setAt(0)
        }}
        onKeyDown={press}
      />
      <div id={listId} role="listbox" aria-label="Commands" className="palette-list" tabIndex={-1}>
        {shown.map((choice) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and handles keys for all of them
          <div
            key={choice.id}
            id={`${listId}-${choice.id}`}
            role="option"
            tabIndex={-1}
            className="palette-item"
            aria-selected={choice === current}
            onClick={() => choose(choice)}
          >
            <span>{choice.title}</span>
            <span className="faint clip">{choice.about}</span>
            {choice.key && <kbd>{choice.key}</kbd>}
          </div>
        ))}
      </div>
    </dialog>
  )
}

function matching(choices: readonly Choice[], words: string): Choice[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const has = ({ title, about }: Choice) => {
    const text = `${title} ${about}`.toLowerCase()
    return wanted.every((word) => text.includes(word))
  }
  return choices.filter(has).slice(0, mostShown)
}
