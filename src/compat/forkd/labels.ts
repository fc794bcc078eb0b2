/** What this wire notes on environments and snapshots. */
export const label = {
  /** of a snapshot: it was made from files, not from a sandbox */
  base: 'forkd.base',
  /** of an environment: the workspace that it is, if it also has this name: forks inherit labels */
  workspace: 'forkd.workspace',
  /** of an environment: the tag that it was made from */
  source: 'forkd.source',
} as const
