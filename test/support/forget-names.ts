import { writeFileSync } from 'node:fs'

/** Makes the kernel forget every name that is not in use, as memory pressure does eventually. */
export function forgetNames(): void {
  writeFileSync('/proc/sys/vm/drop_caches', '2')
}
