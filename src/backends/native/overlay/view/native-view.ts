import type { View } from '../../../backend.ts'
import type { Layer } from '../../cell/cell.ts'

/** The files of an environment, a snapshot or a base: layers, topmost first. */
export interface NativeView extends View {
  readonly kind: 'native'
  readonly layers: readonly Layer[]
  /** the subvolume that the topmost layer lies in; absent: it lies in none */
  readonly subvolume?: { readonly path: string; readonly state: 'read-only' | 'in-use' }
}

/** Ids that are shifted in `cell` layers. */
export interface IdRange {
  readonly base: number
  readonly count: number
}

export function viewOf(layers: readonly Layer[]): NativeView {
  return { kind: 'native', layers }
}

export function fromView(view: View): NativeView {
  if (view.kind === 'native') return view as NativeView
  throw new TypeError(`the native backend cannot read a view of the ${view.kind} backend`)
}

/** The files before anything was written inside: everything written is in layers with shifted ids. */
export function baseOf(view: NativeView): NativeView {
  const first = view.layers.findIndex((layer) => layer.ids === 'host')
  return viewOf(first < 0 ? [] : view.layers.slice(first))
}

export function layerArguments({ layers }: NativeView): string[] {
  return layers.map((layer) => `${layer.ids}:${layer.path}`)
}
