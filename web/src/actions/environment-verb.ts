import type { Client } from 'forkpoint/client'
import type { EnvironmentNode } from '../forest/forest.ts'
import type { Field, Question, Target, Verb } from './verb.ts'

export type EnvironmentTarget = Target<EnvironmentNode>

export const isAlive = ({ status }: EnvironmentNode) => status === 'running' || status === 'paused'

/** A verb for environments in some statuses. */
export function environmentVerb(
  about: Pick<Verb, 'id' | 'title' | 'key' | 'isDirect'>,
  isFor: (target: EnvironmentTarget) => boolean,
  ask: (target: EnvironmentTarget) => Question,
): Verb {
  return {
    ...about,
    scope: 'branch',
    applies: (target) => target !== null && isEnvironment(target) && isFor(target),
    ask: (target) => {
      if (target === null || !isEnvironment(target))
        throw new Error(`${about.id} needs an environment`)
      return ask(target)
    },
  }
}

function isEnvironment(target: Target): target is EnvironmentTarget {
  return target.node.kind === 'environment'
}

export const nameField: Field = {
  name: 'name',
  label: 'Name',
  kind: 'text',
  initial: '',
  hint: 'letters, digits and -_. ; may be empty',
}

/** Before something is replaced: what it was can be brought back. */
export async function keep(client: Client, { id, status }: EnvironmentNode, message: string) {
  if (status !== 'running') return null
  return await client.call('environment.snapshot', { id, message })
}
