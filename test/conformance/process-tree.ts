import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** All descendants of a process. The agent adopts orphans, so that none escapes. */
export async function descendantsOf(pid: number): Promise<number[]> {
  const children = new Map<number, number[]>()
  for (const name of await readdir('/proc')) {
    const parent = /^\d+$/.test(name) ? await parentOf(Number(name)) : null
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const found = [...(children.get(pid) ?? [])]
  for (const each of found) found.push(...(children.get(each) ?? []))
  return found
}

/** Ends the descendants first: without the agent, nobody would adopt them. */
export async function killTree(pid: number): Promise<void> {
  for (let left = await descendantsOf(pid); left.length > 0; left = await descendantsOf(pid)) {
    for (const each of left) kill(each)
    await sleep(5)
  }
  kill(pid)
  while ((await parentOf(pid)) !== null) await sleep(5)
}

export async function residentBytes(pids: readonly number[]): Promise<number> {
  const statuses = await Promise.all(pids.map((pid) => read(`/proc/${pid}/status`)))
  return statuses.reduce(
    (sum, text) => sum + 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(text)?.[1] ?? 0),
    0,
  )
}

/** Null for a process that has ended, even if its parent has not noticed yet. */
async function parentOf(pid: number): Promise<number | null> {
  const [state = 'Z', parent = ''] =
    (await read(`/proc/${pid}/stat`)).split(') ').at(-1)?.split(' ') ?? []
  return state === 'Z' || parent === '' ? null : Number(parent)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

/** Empty for a process that ends in the meantime. */
function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
