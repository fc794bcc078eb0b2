import { useEffect } from 'react'
import { createStore, useStore } from '../state/store.ts'
import { formatAge, formatTime } from './format.ts'

const now = createStore(Date.now())
const tickMs = 5000
let followers = 0
let timer: ReturnType<typeof setInterval> | undefined

/** One clock for all ages on the page. */
function useNow(): number {
  useEffect(() => {
    if (followers === 0) timer = setInterval(() => now.set(Date.now()), tickMs)
    followers += 1
    return () => {
      followers -= 1
      if (followers === 0) clearInterval(timer)
    }
  }, [])
  return useStore(now)
}

/** How long ago something was, with the time itself on hover. */
export function Age({ at, suffix = '' }: { at: number; suffix?: string }) {
  const age = formatAge(Math.max(0, useNow() - at))
  return (
    <time className="number" dateTime={new Date(at).toISOString()} title={formatTime(at)}>
      {age === 'now' ? age : `${age}${suffix}`}
    </time>
  )
}
