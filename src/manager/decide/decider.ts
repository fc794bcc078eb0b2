import { deciderForms } from '../../model/decider-forms.ts'
import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import { type CostModel, cheaperKind } from './cost.ts'

export type SnapshotKind = 'physical' | 'virtual'

/** What a decider knows when a snapshot is asked for. */
export interface DecisionFacts {
  readonly branch: string
  /** commands since the last snapshot */
  readonly commands: number
  /** virtual snapshots since the nearest physical one */
  readonly virtualDepth: number
  /** the time that all commands since the nearest physical snapshot took */
  readonly replayMs: number
  /** what this session has measured so far */
  readonly measured: CostModel
}

/** Decides whether a snapshot is taken by the backend, or only a list of commands to replay. */
export type Decider = (facts: DecisionFacts) => SnapshotKind | Promise<SnapshotKind>

/** A decider by name, or a function of your own. */
export type DeciderChoice =
  | 'always'
  | 'never'
  | 'random'
  | 'threshold'
  | 'cost'
  | { readonly kind: 'random'; readonly probability: number }
  | { readonly kind: 'threshold'; readonly seconds: number }
  | Decider

const usualProbability = 0.5
/** As in StateFork. */
const usualThresholdSeconds = 5

/** Always physical. */
export const always: Decider = () => 'physical'

/** Never physical, except where only a physical one is right. */
export const never: Decider = () => 'virtual'

/** Physical with this probability. `draw` returns numbers from 0 up to 1. */
export function random(probability: number, draw: () => number = Math.random): Decider {
  requireProbability(probability)
  return () => (draw() < probability ? 'physical' : 'virtual')
}

/** Physical once replaying would take longer than this. */
export function threshold(seconds: number): Decider {
  requireSeconds(seconds)
  return ({ replayMs }) => (replayMs > seconds * 1000 ? 'physical' : 'virtual')
}

/** Whatever is expected to take less time in all, from what was measured. */
export const cost: Decider = ({ replayMs, measured }) => cheaperKind(measured, replayMs)

export function deciderOf(choice: DeciderChoice): Decider {
  if (typeof choice === 'function') return choice
  if (typeof choice === 'string') return parseDecider(choice)
  if (choice?.kind === 'random') return random(choice.probability)
  if (choice?.kind === 'threshold') return threshold(choice.seconds)
  throw notADecider(choice)
}

/** Reads `always`, `never`, `random:0.2`, `threshold:5` or `cost`. */
export function parseDecider(text: string): Decider {
  const [, kind, value] = /^([a-z]+)(?::(.+))?$/.exec(text) ?? []
  if (value === undefined && kind === 'always') return always
  if (value === undefined && kind === 'never') return never
  if (value === undefined && kind === 'cost') return cost
  if (kind === 'random') return random(numberOr(value, usualProbability))
  if (kind === 'threshold') return threshold(numberOr(value, usualThresholdSeconds))
  throw notADecider(text)
}

function numberOr(text: string | undefined, usual: number): number {
  if (text === undefined) return usual
  return /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN
}

function requireProbability(value: number): void {
  if (value >= 0 && value <= 1) return
  throw new InvalidInputError(`not a probability: ${quote(value)}`, {
    remedy: 'give a number from 0 to 1, such as random:0.2',
  })
}

function requireSeconds(value: number): void {
  if (value >= 0 && Number.isFinite(value)) return
  throw new InvalidInputError(`not a number of seconds: ${quote(value)}`, {
    remedy: 'give a number of 0 or more, such as threshold:5',
  })
}

function notADecider(given: unknown): InvalidInputError {
  return new InvalidInputError(`not a decider: ${quote(given)}`, {
    remedy: `a decider is ${deciderForms}, or a function`,
  })
}
