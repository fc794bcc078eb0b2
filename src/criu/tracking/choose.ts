import type { TrackingKind } from '../../model/settings.ts'

/** How the next snapshot will find what was written, and why so. */
export interface TrackingChoice {
  readonly kind: Exclude<TrackingKind, 'auto'>
  readonly why: string
}

/** `askKernel`: why it cannot track writes; null if it can. */
export async function chooseTracking(
  setting: TrackingKind,
  askKernel: () => Promise<string | null>,
): Promise<TrackingChoice> {
  if (setting !== 'auto') return { kind: setting, why: `memory.tracking is set to ${setting}` }
  const whyNot = await askKernel()
  if (whyNot === null) return { kind: 'written', why: 'the kernel can track writes' }
  return { kind: 'remapped', why: whyNot }
}
