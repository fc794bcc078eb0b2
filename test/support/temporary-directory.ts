import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** A directory of the host, on the root file system, that is removed when disposed of. */
export class TemporaryDirectory implements Disposable {
  readonly path: string

  constructor(under = '/var/tmp') {
    this.path = realpathSync(mkdtempSync(join(under, 'forkpoint-test-files-')))
  }

  file(name: string): string {
    return join(this.path, name)
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
