import type { Client } from 'forkpoint/client'
import type { Forest, ForestNode } from '../forest/forest.ts'
import type { Scope } from '../session/session.ts'

/** What a verb works on, and with. */
export interface Target<N extends ForestNode = ForestNode> {
  readonly node: N
  readonly forest: Forest
}

export interface Field {
  readonly name: string
  readonly label: string
  readonly kind: 'text' | 'number' | 'choice' | 'check'
  readonly initial: string
  readonly hint?: string
  /** of a choice: value and words */
  readonly options?: readonly (readonly [string, string])[]
  readonly isRequired?: boolean
}

/** What the user entered; a check is `yes` or empty. */
export type Values = Readonly<Record<string, string>>

/** What was done, as the notice says it. */
export interface Outcome {
  readonly text: string
  readonly undo?: () => Promise<void>
  /** what to look at now */
  readonly open?: string
}

/** Something that a user can do, as the dialog asks for it. */
export interface Question {
  readonly title: string
  /** what happens, and what is lost */
  readonly says: string
  /** `harm`: something is lost that nothing brings back */
  readonly tone: 'main' | 'harm'
  readonly confirm: string
  readonly fields: readonly Field[]
  /** what it would do, for a verb that can tell */
  preview?(client: Client, values: Values): Promise<readonly string[]>
  run(client: Client, values: Values): Promise<Outcome>
}

export interface Verb {
  readonly id: string
  readonly title: string
  /** pressed while the tree or nothing has the focus */
  readonly key?: string
  readonly scope: Scope
  /** Whether it makes sense for what is selected; null: nothing is. */
  applies(target: Target | null): boolean
  /** Null: it needs no question. */
  ask(target: Target | null): Question
  /** it is done at once: nothing is lost, and nothing has to be entered */
  readonly isDirect?: true
}
