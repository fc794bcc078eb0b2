import { formatMs } from '../../ui/format.ts'

interface TimingBarProps {
  readonly phases: readonly { readonly name: string; readonly ms: number }[]
  readonly totalMs: number
}

const inks = 8

/** How long each step took, one after the other, in proportion. */
export function TimingBar({ phases, totalMs }: TimingBarProps) {
  const known = phases.reduce((sum, { ms }) => sum + ms, 0)
  const whole = Math.max(totalMs, known, 0.001)
  const all = known < whole ? [...phases, { name: 'other', ms: whole - known }] : phases
  return (
    <figure className="timing">
      <div className="timing-bar" aria-hidden="true">
        {all.map(({ name, ms }, index) => (
          <span
            key={name}
            title={`${name}: ${formatMs(ms)}`}
            style={{ flexGrow: ms / whole, background: inkAt(name, index) }}
          />
        ))}
      </div>
      <figcaption>
        <ul className="timing-words">
          {all.map(({ name, ms }, index) => (
            <li key={name}>
              <span className="timing-dot" style={{ background: inkAt(name, index) }} />
              {name} <span className="faint number">{formatMs(ms)}</span>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  )
}

function inkAt(name: string, index: number): string {
  return name === 'other' ? 'var(--line-strong)' : `var(--ink-${index % inks})`
}
