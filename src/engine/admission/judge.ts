import { refused, type Share } from '../../model/admission.ts'
import type { ResourceError } from '../../model/errors.ts'
import { formatBytes } from '../../model/values/quantities.ts'

/** What an operation would add. */
export interface Asked {
  readonly environments: number
  /** the memory limits of those environments; infinite if one has none */
  readonly memoryBytes: number
  /** their disk limits, likewise, and what snapshots take */
  readonly diskBytes: number
}

/** Somebody removes or releases an environment sooner or later. */
const retryAfterMs = 5000

/** Whose limits they are, as messages say it. */
export interface Bound {
  readonly whose: string
  /** the settings that raise them */
  readonly settings: 'admission' | 'admission.each'
  readonly limits: Share
}

/** Why an operation would exceed a bound; null if it would not. */
export function whyRefused(asked: Asked, present: Asked, bound: Bound): ResourceError | null {
  const { environments, memoryBytes, diskBytes } = bound.limits
  const count = present.environments + asked.environments
  if (environments !== null && asked.environments > 0 && count > environments) {
    return tooMany(asked, present, { ...bound, limit: environments })
  }
  const bytes = present.memoryBytes + asked.memoryBytes
  if (memoryBytes !== null && asked.memoryBytes > 0 && bytes > memoryBytes) {
    return tooLarge(present, { ...bound, limit: memoryBytes })
  }
  const written = present.diskBytes + asked.diskBytes
  if (diskBytes !== null && asked.diskBytes > 0 && written > diskBytes) {
    return tooFull(present, { ...bound, limit: diskBytes })
  }
  return null
}

interface Exceeded extends Bound {
  readonly limit: number
}

function tooMany(asked: Asked, present: Asked, { whose, settings, limit }: Exceeded) {
  const message = `${whose} may have ${limit} environments, and there are ${present.environments}`
  return refused(message, {
    scarce: 'environments',
    remedy: `remove some with \`forkpoint rm\`, or raise ${settings}.environments`,
    retryAfterMs,
    detail: { present: present.environments, asked: asked.environments, limit },
  })
}

function tooLarge(present: Asked, { whose, settings, limit }: Exceeded) {
  const promised = amount(present.memoryBytes)
  const message = `environments of ${whose} may use ${formatBytes(limit)} of memory together, and ${promised} is promised already`
  return refused(message, {
    scarce: 'memoryBytes',
    remedy: `give a lower memory limit, remove or release others, or raise ${settings}.memory`,
    retryAfterMs,
    detail: { limit },
  })
}

function tooFull(present: Asked, { whose, settings, limit }: Exceeded) {
  const taken = amount(present.diskBytes)
  const message = `environments and snapshots of ${whose} may use ${formatBytes(limit)} of disk together, and ${taken} is promised or taken already`
  return refused(message, {
    scarce: 'diskBytes',
    remedy: `give a disk limit that fits, remove environments or snapshots, or raise ${settings}.disk`,
    retryAfterMs,
    detail: { limit },
  })
}

function amount(bytes: number): string {
  return Number.isFinite(bytes) ? formatBytes(bytes) : 'all of it'
}
