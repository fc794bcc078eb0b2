import type { View } from '../../../backend.ts'
import type { Layer } from '../../cell/cell.ts'

/** The files of an environment, a snapshot or a base: layers, topmost first. */
export interface NativeView extends View {
  readonly kind: 'native'
  readonly layers: readonly Layer[]
}

/** Ids that are shifted in layers of the kind `cell`. */
export interface IdRange {
  readonly base: number
  readonly count: number
}

export function viewOf(layers: readonly Layer[]): NativeView {
  return { kind: 'native', layers }
}

export function fromView(view: View): NativeView {
  if (view.kind === 'native') return view as NativeView
  throw new TypeError(`a view of the ${view.kind} backend came to the native one`)
}

/** What was there before anything was written inside: writing makes layers with shifted ids only. */
export function baseOf(view: NativeView): NativeView {
  const first = view.layers.findIndex((layer) => layer.ids === 'host')
  return viewOf(first < 0 ? [] : view.layers.slice(first))
}

export function layerArguments({ layers }: NativeView): string[] {
  return layers.map((layer) => `${layer.ids}:${layer.path}`)
}
