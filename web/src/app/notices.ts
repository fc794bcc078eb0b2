import { ForkpointError } from 'forkpoint/client'
import { createStore, useStore } from '../state/store.ts'

/** One sentence about what was done, or why it was not. */
export interface Notice {
  readonly id: number
  readonly tone: 'done' | 'harm'
  readonly text: string
  readonly remedy?: string
  /** takes back what was done */
  readonly undo?: () => Promise<void>
}

const notices = createStore<readonly Notice[]>([])
let last = 0

const shownMs = 9000
const mostNotices = 4

export function useNotices(): readonly Notice[] {
  return useStore(notices)
}

export function notify(notice: Omit<Notice, 'id'>): void {
  last += 1
  const id = last
  notices.set([...notices.get(), { ...notice, id }].slice(-mostNotices))
  // An error stays until it was read.
  if (notice.tone === 'done') setTimeout(() => dismiss(id), shownMs)
}

export function notifyError(error: unknown): void {
  const known = error instanceof ForkpointError ? error : null
  const remedy = known?.remedy === undefined ? {} : { remedy: known.remedy }
  notify({ tone: 'harm', text: known?.message ?? String(error), ...remedy })
}

export function dismiss(id: number): void {
  notices.set(notices.get().filter((notice) => notice.id !== id))
}
