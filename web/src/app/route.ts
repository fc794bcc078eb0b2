import { createStore, useStore } from '../state/store.ts'

export const tabs = ['overview', 'changes', 'files', 'log', 'resources'] as const

export type Tab = (typeof tabs)[number]

/** What the page shows, as its address says. */
export type Route =
  | { readonly page: 'tree' }
  | { readonly page: 'node'; readonly id: string; readonly tab: Tab }
  | { readonly page: 'terminals' | 'compare'; readonly ids: readonly string[] }

export function parseRoute(path: string, search: string): Route {
  const [first, id, tab] = path.split('/').filter(Boolean).map(decodeURIComponent)
  if (first === 'node' && id !== undefined) {
    return { page: 'node', id, tab: tabs.find((each) => each === tab) ?? 'overview' }
  }
  if (first === 'terminals' || first === 'compare') {
    const ids = new URLSearchParams(search).get('of')?.split(',').filter(Boolean) ?? []
    return { page: first, ids }
  }
  return { page: 'tree' }
}

export function formatRoute(route: Route): string {
  switch (route.page) {
    case 'tree':
      return '/'
    case 'node': {
      const tab = route.tab === 'overview' ? '' : `/${route.tab}`
      return `/node/${encodeURIComponent(route.id)}${tab}`
    }
    default:
      return `/${route.page}?of=${route.ids.map(encodeURIComponent).join(',')}`
  }
}

const current = createStore(parseRoute(location.pathname, location.search))

addEventListener('popstate', () => current.set(parseRoute(location.pathname, location.search)))

export function navigate(route: Route): void {
  const path = formatRoute(route)
  if (path !== location.pathname + location.search) history.pushState(null, '', path)
  current.set(route)
}

export function useRoute(): Route {
  return useStore(current)
}
