/** Something that docs/security.md promises, and the attacks that test it. */
export interface PromiseAttacks {
  readonly promise: string
  readonly attacks: readonly string[]
}
