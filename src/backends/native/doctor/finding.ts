import type { Check } from '../../backend.ts'

/** What a check found; text alone if all is well. */
export type Finding = string | Pick<Check, 'status' | 'found' | 'remedy'>
