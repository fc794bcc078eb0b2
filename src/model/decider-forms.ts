/** The deciders that have a name, as messages and help show them. */
export const deciderForms =
  'always, never, random[:PROBABILITY], threshold[:SECONDS] or cost' as const
