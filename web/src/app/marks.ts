import { createStore, useStore } from '../state/store.ts'

/** The environments that the user picked for the grid of terminals or the comparison. */
const marks = createStore<ReadonlySet<string>>(new Set())

export function useMarks(): ReadonlySet<string> {
  return useStore(marks)
}

export function toggleMark(id: string): void {
  const next = new Set(marks.get())
  if (!next.delete(id)) next.add(id)
  marks.set(next)
}

export function clearMarks(): void {
  marks.set(new Set())
}
