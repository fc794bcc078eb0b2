import { useEffect, useRef } from 'react'

/** Handles a key if it means something to them; then nobody else gets it. */
export type KeyHandler = (event: KeyboardEvent) => boolean

/** Keys of the whole page. */
export function useKeys(handle: KeyHandler): void {
  const latest = useRef(handle)
  latest.current = handle
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return
      if (latest.current(event)) event.preventDefault()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}

/** Whether the key belongs to a field, a dialog or a terminal, or to the browser. */
export function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return true
  const places = 'input, textarea, select, [contenteditable], dialog, .xterm, [data-keys]'
  return target instanceof Element && target.closest(places) !== null
}
