import { chmodSync, mkdirSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const tmpfs = 0x01021994

/**
 * CRIU probes the kernel on every call unless /run is a tmpfs, where it caches the answers. Ours always
 * has one, so plain CRIU gets one too: `memory` is a directory on a tmpfs. podman's cannot, because runc's
 * restore fails in another mount namespace.
 */
export function quickCriu(dir: string, criu: string, memory: string): string {
  if (statfsSync('/run').type === tmpfs) return criu
  const script = join(dir, 'bin/criu')
  mkdirSync(join(dir, 'bin'))
  const inside = `mount --bind ${memory} /run && exec ${criu} "$@"`
  writeFileSync(script, `#!/bin/sh\nexec unshare --mount sh -c '${inside}' criu "$@"\n`)
  chmodSync(script, 0o755)
  return script
}
