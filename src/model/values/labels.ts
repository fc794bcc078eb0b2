/** What Forkpoint and its wires note for themselves, about the one thing that carries the note. */
const ownPrefixes = ['forkpoint.', 'e2b.', 'forkd.']

/** The labels of an environment that its snapshots have too. */
export function inheritedLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const isOwn = (key: string) => ownPrefixes.some((prefix) => key.startsWith(prefix))
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !isOwn(key)))
}

/** Whether all of these labels are there, with these values. */
export function carries(
  labels: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value)
}

/** The labels after a change, in which null removes one. */
export function changedLabels(
  labels: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const merged = Object.entries({ ...labels, ...changes })
  return Object.fromEntries(merged.filter((pair): pair is [string, string] => pair[1] !== null))
}
