import { createStore, useStore } from '../state/store.ts'

const themes = ['auto', 'light', 'dark'] as const

export type Theme = (typeof themes)[number]

const key = 'forkpoint.theme'

function kept(): Theme {
  const text = localStorage.getItem(key)
  return themes.find((theme) => theme === text) ?? 'auto'
}

const current = createStore<Theme>(kept())

function apply(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

apply(current.get())

export function useTheme(): Theme {
  return useStore(current)
}

/** The next one: as the system, light, dark. */
export function changeTheme(): void {
  const next = themes[(themes.indexOf(current.get()) + 1) % themes.length] ?? 'auto'
  localStorage.setItem(key, next)
  apply(next)
  current.set(next)
}
