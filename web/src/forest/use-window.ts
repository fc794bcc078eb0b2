import { type RefObject, useCallback, useEffect, useState } from 'react'

export interface Window {
  readonly from: number
  readonly to: number
  readonly height: number
}

/** Rows that are rendered beyond those that are seen, so that scrolling shows no gap. */
const beyond = 10

/** Which of many rows of one height are in sight. */
export function useWindow(
  place: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
): Window {
  const [seen, setSeen] = useState({ top: 0, height: 800 })
  const measure = useCallback(() => {
    const element = place.current
    if (element === null) return
    const { scrollTop: top, clientHeight: height } = element
    setSeen((before) => (before.top === top && before.height === height ? before : { top, height }))
  }, [place])
  useEffect(() => {
    const element = place.current
    if (element === null) return
    measure()
    const resized = new ResizeObserver(measure)
    resized.observe(element)
    element.addEventListener('scroll', measure, { passive: true })
    return () => {
      resized.disconnect()
      element.removeEventListener('scroll', measure)
    }
  }, [place, measure])
  const from = Math.max(0, Math.floor(seen.top / rowHeight) - beyond)
  const to = Math.min(count, Math.ceil((seen.top + seen.height) / rowHeight) + beyond)
  return { from: Math.min(from, to), to, height: seen.height }
}
