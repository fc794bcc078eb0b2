import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { timed } from '../recorder.ts'
import { runTool } from '../run-tool.ts'
import type { Peer, PeerKind, PeerProgram, PeerStage } from './peer.ts'
import { startUntilReady } from './ready.ts'

/** The directory of the root file system that a user would copy. */
export const workspace = 'root/work'

const enter = `mount --bind "$1" "$2/${workspace}" && exec chroot "$2" bash -c "$3"`

/** What people do without a tool: copy the files and start the program again. */
export const copyRestart: PeerKind = {
  by: 'copy',
  title: 'cp -a and restart',
  whyNot: async () => null,
  start: startCopying,
}

async function startCopying(stage: PeerStage, program: PeerProgram): Promise<Peer> {
  const { rootfs } = stage
  const copy = join(stage.dir, `copy-${program.slug}`)
  const command = program.command(`/tmp/copy-${program.slug}`)
  const words = ['--mount', '--pid', '--fork', '--kill-child', 'bash', '-c', enter]
  return {
    by: 'copy',
    round: async (note) => {
      const copied = await timed(() => runTool('cp', ['-a', join(rootfs, workspace), copy]))
      note('snapshot', copied.ms)
      const restarted = await timed(() =>
        startUntilReady('unshare', [...words, 'enter', copy, rootfs, command]),
      )
      note('restore', restarted.ms)
      restarted.result.kill('SIGKILL')
      await once(restarted.result, 'exit')
      rmSync(copy, { recursive: true, force: true })
    },
    [Symbol.asyncDispose]: async () => {},
  }
}
