import { promoted } from '../actions/environment-verbs.ts'
import type { Field, Verb } from '../actions/verb.ts'
import { type EnvironmentNode, nameOf } from '../forest/forest.ts'

/** Makes one environment what the winner is; the other ones that were compared may go. */
export function winnerVerb(
  winner: EnvironmentNode,
  compared: readonly EnvironmentNode[],
  targets: readonly EnvironmentNode[],
): Verb {
  const losers = compared.filter(({ id }) => id !== winner.id)
  const [first] = targets
  const into: Field = {
    name: 'into',
    label: 'Into',
    kind: 'choice',
    initial: first?.id ?? '',
    options: targets.map((each) => [each.id, nameOf(each)]),
  }
  const remove: Field = {
    name: 'remove',
    label: `Then remove the others that were compared: ${losers.map(nameOf).join(', ')}`,
    kind: 'check',
    initial: '',
  }
  return {
    id: 'promote-winner',
    title: `Promote ${nameOf(winner)}`,
    scope: 'branch',
    applies: () => true,
    ask: () => ({
      title: `Promote ${nameOf(winner)}`,
      says: 'The environment that you choose becomes what the winner is, in place. A snapshot of what it was is taken first, so that this can be undone. What is removed cannot be brought back, but for its snapshots.',
      tone: 'main',
      confirm: 'Promote',
      fields: [into, remove],
      run: async (client, values) => {
        const target = targets.find(({ id }) => id === values.into)
        if (target === undefined) throw new Error('choose an environment')
        const { open: _open, ...outcome } = await promoted(client, winner, target)
        if (values.remove !== 'yes') return outcome
        const gone = losers.filter(({ id }) => id !== target.id)
        for (const { id } of gone) await client.call('environment.remove', { id, force: true })
        return { ...outcome, text: `${outcome.text} Removed ${gone.map(nameOf).join(', ')}.` }
      },
    }),
  }
}

/** Removes everything that was compared but one. */
export function losersVerb(winner: EnvironmentNode, compared: readonly EnvironmentNode[]): Verb {
  const losers = compared.filter(({ id }) => id !== winner.id)
  const title = `Remove all but ${nameOf(winner)}`
  return {
    id: 'remove-losers',
    title,
    scope: 'branch',
    applies: () => true,
    ask: () => ({
      title,
      says: `${losers.map(nameOf).join(', ')}: their processes end, and what they changed since their last snapshots is lost.`,
      tone: 'harm',
      confirm: 'Remove them',
      fields: [],
      run: async (client) => {
        for (const { id } of losers) await client.call('environment.remove', { id, force: true })
        return { text: `Removed ${losers.map(nameOf).join(', ')}.` }
      },
    }),
  }
}
