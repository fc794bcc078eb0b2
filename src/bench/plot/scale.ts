export interface Scale {
  /** where a value is drawn */
  readonly at: (value: number) => number
  /** values that label the axis */
  readonly ticks: readonly number[]
}

type Span = readonly [from: number, to: number]

/** From zero to a round number above all values. */
export function linearScale(values: readonly number[], range: Span): Scale {
  const highest = Math.max(0, ...values) || 1
  const step = roundStep(highest / 5)
  const top = Math.ceil(highest / step) * step
  const count = Math.round(top / step)
  return {
    at: (value) => range[0] + (value / top) * (range[1] - range[0]),
    ticks: Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12))),
  }
}

/** Between powers of ten, with 2 and 5 in between if there are few. */
export function logScale(values: readonly number[], range: Span, ticks?: readonly number[]): Scale {
  const positive = values.filter((value) => value > 0)
  const [low, high] =
    ticks === undefined ? decades(positive) : [Math.min(...positive), Math.max(...positive)]
  const width = Math.log(high / low) || 1
  return {
    at: (value) =>
      range[0] + (Math.log(Math.max(value, low) / low) / width) * (range[1] - range[0]),
    ticks: ticks ?? decadeTicks(low, high),
  }
}

function decades(values: readonly number[]): Span {
  const low = 10 ** Math.floor(Math.log10(Math.min(...values)))
  const high = 10 ** Math.ceil(Math.log10(Math.max(...values)))
  return [low, high > low ? high : low * 10]
}

function decadeTicks(low: number, high: number): number[] {
  const within = Math.round(Math.log10(high / low))
  const steps = within <= 2 ? [1, 2, 5] : [1]
  return Array.from({ length: within + 1 }, (_, i) => low * 10 ** i)
    .flatMap((decade) => steps.map((step) => Number((decade * step).toPrecision(12))))
    .filter((tick) => tick <= high)
}

/** 1, 2 or 5 times a power of ten, at least as large as this. */
function roundStep(least: number): number {
  const decade = 10 ** Math.floor(Math.log10(least))
  return decade * ([1, 2, 5].find((step) => step * decade >= least) ?? 10)
}
