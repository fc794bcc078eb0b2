interface GraphProps {
  readonly title: string
  readonly now: string
  readonly values: readonly number[]
  /** the top of the graph, unless a value is higher */
  readonly least: number
}

const [width, height] = [240, 44]
const points = 80

/** A line through the last minutes; what it shows is also there in words. */
export function Graph({ title, now, values, least }: GraphProps) {
  const top = Math.max(least, ...values)
  const xs = (index: number) => width - ((values.length - 1 - index) * width) / (points - 1)
  const ys = (value: number) => height - 1 - (value / top) * (height - 3)
  const line = values.map((value, index) => `${xs(index).toFixed(1)} ${ys(value).toFixed(1)}`)
  return (
    <figure className="graph">
      <figcaption>
        <span className="faint">{title}</span> <span className="number">{now}</span>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {line.length > 1 && (
          <>
            <path className="graph-fill" d={`M${xs(0)} ${height}L${line.join('L')}V${height}Z`} />
            <path className="graph-line" d={`M${line.join('L')}`} />
          </>
        )}
      </svg>
    </figure>
  )
}
