import type { DumpImages } from './dump-images.ts'
import { pstreeEntry } from './format/criu-messages.ts'
import { read } from './format/schema.ts'

interface Member {
  readonly pid: number
  readonly sid: number
  parent: Member | null
  /** the session in which it must have begun, if a child of it shows that */
  born: number | null
}

/**
 * A process that CRIU cannot give its session back; null if there is none. A process inherits its session, so a copy
 * of it must be started by one that is in it, and that is known only if the leader is there or an ancestor is in
 * the session. Children of the first process are an exception: CRIU starts another leader for them.
 */
export function outsideSession(images: DumpImages): { pid: number; session: number } | null {
  const members = membersIn(images)
  for (const member of members) {
    const { pid, sid, parent } = member
    if (parent === null || sid === pid || parent.sid === sid) continue
    if (!isBornIn(parent, sid)) return { pid, session: sid }
  }
  return null
}

/** Whether the ancestors, up to the leader, can have begun in this session. */
function isBornIn(first: Member, sid: number): boolean {
  let at: Member | null = first
  for (; at !== null && at.pid !== sid; at = at.parent) {
    if (at.born !== null && at.born !== sid) return false
    at.born = sid
  }
  return at !== null
}

/** As CRIU arranges them: with temporary leaders above some children of the first process. */
function membersIn(images: DumpImages): Member[] {
  const entries = images.image('pstree.img').entries.map((entry) => read(pstreeEntry, entry))
  const members = new Map(
    entries.map(({ pid, sid }): [number, Member] => [pid, { pid, sid, parent: null, born: null }]),
  )
  for (const { pid, ppid } of entries) {
    const member = members.get(pid)
    if (member) member.parent = members.get(ppid) ?? null
  }
  const all = [...members.values()]
  const [root] = all.filter(({ parent }) => parent === null)
  for (const member of all.filter(({ parent }) => parent === root)) {
    if (root === undefined || member.sid === root.sid || member.sid === member.pid) continue
    const leader = members.get(member.sid)
    const pid = leader === undefined ? member.sid : -1
    member.parent = { pid, sid: member.sid, parent: leader ?? root, born: null }
  }
  return all
}
