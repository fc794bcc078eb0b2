import { copyRestart } from '../peers/copy-restart.ts'
import { docker } from '../peers/docker.ts'
import type { Peer, PeerKind, PeerProgram, PeerStage } from '../peers/peer.ts'
import { plainCriu } from '../peers/plain-criu.ts'
import { podman } from '../peers/podman.ts'
import { idleProgram, pythonProgram } from '../peers/stage.ts'
import { firstFailure, runTool } from '../run-tool.ts'
import { idleShell } from '../workloads/idle-shell.ts'
import { programs } from '../workloads/programs.ts'
import { pythonSession } from '../workloads/python.ts'
import type { Workload } from '../workloads/workload.ts'
import type { Bench } from './bench.ts'

/** A workload, and the peers that it is compared with. */
export interface Subject {
  readonly workload: Workload
  readonly peers: readonly Peer[]
}

const kinds: readonly PeerKind[] = [plainCriu, podman, docker, copyRestart]

/** The subjects of the operations; peers run until the stack is disposed of. */
export async function startSubjects(
  bench: Bench,
  stage: PeerStage,
  started: AsyncDisposableStack,
): Promise<Subject[]> {
  const { pythonMb, sessionMb, programs: names } = bench.plan
  const here = await kindsHere(bench)
  const startAll = async (program: PeerProgram) => {
    const peers: Peer[] = []
    for (const kind of here) {
      bench.say(`starting the peer ${kind.title} (${program.slug})`)
      const peer = await startPeer(bench, kind, stage, program)
      if (peer !== null) peers.push(started.use(peer))
    }
    return peers
  }
  const all: Subject[] = [{ workload: idleShell, peers: await startAll(idleProgram) }]
  for (const mb of pythonMb) {
    const peers = mb === sessionMb ? await startAll(pythonProgram(mb)) : []
    all.push({ workload: pythonSession(mb), peers })
  }
  for (const name of names) all.push({ workload: programs[name], peers: [] })
  return await installed(bench, all)
}

/** A peer that is installed but does not work here also counts as missing. */
async function startPeer(
  bench: Bench,
  kind: PeerKind,
  stage: PeerStage,
  program: PeerProgram,
): Promise<Peer | null> {
  try {
    return await kind.start(stage, program)
  } catch (error) {
    bench.miss({ what: `${kind.title} (${program.slug})`, why: String(firstFailure(error)) })
    return null
  }
}

async function kindsHere(bench: Bench): Promise<PeerKind[]> {
  const here: PeerKind[] = []
  for (const kind of kinds) {
    const why = await kind.whyNot()
    if (why === null) here.push(kind)
    else bench.miss({ what: kind.title, why })
  }
  return here
}

async function installed(bench: Bench, all: readonly Subject[]): Promise<Subject[]> {
  const here: Subject[] = []
  for (const subject of all) {
    if (await isInstalled(bench, subject.workload)) here.push(subject)
  }
  return here
}

/** Whether the host has what a workload needs; notes it as missing otherwise. */
export async function isInstalled(
  bench: Bench,
  { name, needs }: Pick<Workload, 'name' | 'needs'>,
): Promise<boolean> {
  const found = await runTool('which', [...needs]).then(
    () => true,
    () => false,
  )
  if (!found) bench.miss({ what: name, why: `${needs.join(' or ')} is not installed` })
  return found
}
