import { mkdirSync, writeFileSync } from 'node:fs'
import { makeSmallRootfs } from '../support/small-rootfs.ts'
import type { TemporaryDirectory } from '../support/temporary-directory.ts'
import type { Places } from './subject.ts'

/** What environments of the suite start from. */
export function makeSources(directory: TemporaryDirectory): Omit<Places, 'home'> {
  const workspace = directory.file('workspace')
  const rootfs = directory.file('rootfs')
  mkdirSync(workspace)
  mkdirSync(rootfs)
  writeFileSync(`${workspace}/given.txt`, 'given\n')
  makeSmallRootfs(rootfs)
  return {
    workspace,
    rootfs,
    image: 'debian:12',
    dockerfile: workspace,
    oci: workspace,
    archive: `${workspace}/given.txt`,
    container: 'theirs',
    from: `dir:${workspace}`,
  }
}
