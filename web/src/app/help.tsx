import { useEffect, useRef } from 'react'
import type { Verb } from '../actions/verb.ts'

const treeKeys = [
  ['↑ ↓', 'walk through the tree'],
  ['← →', 'fold and unfold'],
  ['Enter', 'select'],
  ['x', 'mark an environment for terminals or the comparison'],
  ['/', 'search'],
  ['+ −', 'zoom'],
  ['0', 'fit the tree to the window'],
  ['Esc', 'close the details'],
  ['Ctrl K', 'all commands'],
  ['?', 'this list'],
] as const

/** All keys of the page; those of verbs that the token does not allow are not in it. */
export function Help({ verbs, onClose }: { verbs: readonly Verb[]; onClose: () => void }) {
  const place = useRef<HTMLDialogElement>(null)
  useEffect(() => place.current?.showModal(), [])
  const ofVerbs = new Map(
    verbs.flatMap(({ key, title }) => (key === undefined ? [] : [[key, title]])),
  )
  return (
    <dialog ref={place} className="dialog help" aria-label="Keys" onClose={onClose}>
      <form method="dialog">
        <h2>Keys</h2>
        <dl>
          {[...treeKeys, ...ofVerbs].map(([key, words]) => (
            <div key={`${key}${words}`} style={{ display: 'contents' }}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{words}</dd>
            </div>
          ))}
        </dl>
        <div className="dialog-buttons">
          <button type="submit" className="button">
            Close
          </button>
        </div>
      </form>
    </dialog>
  )
}
