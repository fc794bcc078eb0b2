import { type ReactNode, useCallback, useState } from 'react'
import { notify, notifyError } from '../app/notices.ts'
import { navigate } from '../app/route.ts'
import type { Session } from '../session/session.ts'
import { ActionDialog } from './action-dialog.tsx'
import type { Question, Target, Values, Verb } from './verb.ts'

export interface Actions {
  /** Begins a verb: asks what has to be known, then does it. */
  begin(verb: Verb, target: Target | null): void
  /** the dialog, while one is open */
  readonly dialog: ReactNode
}

/** Carries verbs out, and says what came of it. */
export function useActions({ client }: Session, refresh: () => Promise<void>): Actions {
  const [question, setQuestion] = useState<Question | null>(null)
  const run = useCallback(
    async ({ run: doIt }: Question, values: Values) => {
      const { text, undo, open } = await doIt(client, values)
      // It is in the tree before it is selected.
      await refresh()
      if (open !== undefined) navigate({ page: 'node', id: open, tab: 'overview' })
      const takeBack = undo && (() => undo().then(refresh))
      notify({ tone: 'done', text, ...(takeBack !== undefined && { undo: takeBack }) })
    },
    [client, refresh],
  )
  const begin = useCallback(
    (verb: Verb, target: Target | null) => {
      const asked = verb.ask(target)
      if (verb.isDirect) run(asked, {}).catch(notifyError)
      else setQuestion(asked)
    },
    [run],
  )
  const dialog = question && (
    <ActionDialog
      question={question}
      client={client}
      onRun={(values) => run(question, values)}
      onClose={() => setQuestion(null)}
    />
  )
  return { begin, dialog }
}
