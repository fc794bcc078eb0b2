import { readlinkSync } from 'node:fs'

/** Those that an agent enters, and CRIU, which then has none to dump; with the option of `nsenter`. */
const options = {
  mnt: '--mount',
  pid: '--pid',
  net: '--net',
  uts: '--uts',
  ipc: '--ipc',
  cgroup: '--cgroup',
} as const

export type Namespace = keyof typeof options

/** The namespaces in which a process differs from this one. */
function otherNamespaces(pid: number): Namespace[] {
  return (Object.keys(options) as Namespace[]).filter(
    (name) => readlinkSync(`/proc/${pid}/ns/${name}`) !== readlinkSync(`/proc/self/ns/${name}`),
  )
}

/** The options of `nsenter` for the namespaces of a process, or for some of them. */
export function namespaceOptions(pid: number, wanted?: readonly Namespace[]): string[] {
  const others = otherNamespaces(pid).filter((name) => wanted?.includes(name) ?? true)
  return others.map((name) => options[name])
}

/** What goes before a program so that it runs in the namespaces of a process, or in some of them. */
export function entering(pid: number, wanted?: readonly Namespace[]): string[] {
  const others = namespaceOptions(pid, wanted)
  return others.length === 0 ? [] : ['nsenter', '--target', String(pid), ...others, '--']
}
