import { linkRemapsOf } from './images/link-remaps.ts'
import { nativeProgram } from './native-program.ts'
import { mustRun } from './run-tool.ts'

/**
 * CRIU takes the names it gave away again at the end of a dump that leaves the processes running,
 * but the images need them: made once more, they are sealed with the rest of the files. `pid` is the
 * frozen environment's agent.
 */
export async function nameLinkRemaps(images: string, pid: number): Promise<void> {
  const remaps = await linkRemapsOf(images)
  if (remaps.length === 0) return
  const pairs = remaps.flatMap(({ holder, name }) => [holder, name])
  const doing = 'naming files that are open without a name'
  await mustRun(doing, nativeProgram('cell'), ['relink', String(pid), ...pairs])
}

/** Takes them away from an environment that goes on after all. */
export async function unnameLinkRemaps(images: string, pid: number): Promise<void> {
  const remaps = await linkRemapsOf(images).catch(() => [])
  if (remaps.length === 0) return
  const names = remaps.map(({ name }) => name)
  await mustRun('removing the names of open files', nativeProgram('cell'), [
    ...['unlink', String(pid), ...names],
  ])
}
