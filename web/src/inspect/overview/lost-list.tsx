import { Section } from './facts.tsx'
import type { Info } from './overview-tab.tsx'

/** What a copy does not have; nothing is shown if it has everything. */
export function LostList({ lost }: Pick<Info, 'lost'>) {
  if (lost.length === 0) return null
  return (
    <Section title="Not in a copy">
      <ul className="lost">
        {lost.map(({ process, object, what, consequence }) => (
          <li key={`${process?.pid} ${object} ${what}`}>
            <strong>{object}</strong>
            {process !== null && ` of ${process.command} (${process.pid})`}: {what}.{' '}
            <span className="faint">{consequence}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
