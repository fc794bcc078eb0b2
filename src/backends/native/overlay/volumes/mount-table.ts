/** A line of mountinfo: the device is third, the mount point fifth, and the source after a dash and the type. */
const line = /^\d+ \d+ (\d+:\d+) \S+ (\S+) .*? - \S+ (\S+)/

export interface Mount {
  readonly at: string
  readonly device: string
  /** what was mounted, such as the path of a disk */
  readonly source: string
}

/**
 * The device of the file system that holds a path, as mountinfo writes it. It is the same for all
 * subvolumes of a btrfs, which `stat` reports as different devices.
 */
export function deviceUnder(mountinfo: string, path: string): string | null {
  return mountUnder(mountinfo, path)?.device ?? null
}

/** The mount that holds a path. */
export function mountUnder(mountinfo: string, path: string): Mount | null {
  let found: Mount | null = null
  for (const text of mountinfo.split('\n')) {
    const [, device = '', escaped = '', source = ''] = line.exec(text) ?? []
    const at = unescaped(escaped)
    const holds = at !== '' && (at === '/' || path === at || path.startsWith(`${at}/`))
    // A later mount at the same place covers the earlier one.
    if (holds && at.length >= (found?.at.length ?? 0))
      found = { at, device, source: unescaped(source) }
  }
  return found
}

/** The kernel writes spaces and similar characters in octal. */
function unescaped(text: string): string {
  const bytes = text.replace(/\\(\d{3})/g, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 8)),
  )
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
