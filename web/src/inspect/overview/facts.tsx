import type { ReactNode } from 'react'

/** Facts as pairs of a word and a value; those without a value are left out. */
export function Facts({ facts }: { facts: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className="facts">
      {Object.entries(facts).map(([word, value]) =>
        isMissing(value) ? null : (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

function isMissing(value: ReactNode): boolean {
  return value === null || value === undefined || value === '' || value === false
}

export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="facts-section">
      <h2>{title}</h2>
      {children}
    </section>
  )
}
