import { join } from 'node:path'
import { installEngine } from '../setup/install-engine.ts'
import { whyNot } from '../support/probe.ts'
import type { BackendUnderTest } from './subject.ts'

const runtime = process.env.FORKPOINT_RUNTIME ?? '/var/lib/forkpoint-runtime'

/** What a machine may lack for each backend, in the words of the probe; null if it lacks nothing. */
const probes: Readonly<Record<BackendUnderTest, () => string | null>> = {
  native: notRoot,
  directory: () => null,
  criu: () => notRoot() ?? whyNot(join(runtime, 'criu/bin/criu'), '--version'),
  gvisor: () => notRoot() ?? whyNot(join(runtime, 'runsc/runsc'), '--version'),
  docker: () => notRoot() ?? engineMissing('dockerd'),
  'docker-processes': () => probes.docker() ?? whyNot(join(runtime, 'criu/bin/criu'), '--version'),
  podman: () => notRoot() ?? engineMissing('podman') ?? whyNot('runc', '--version'),
  'podman-criu': () => probes.podman() ?? whyNot(join(runtime, 'criu/bin/criu'), '--version'),
}

export function whyNotHere(backend: BackendUnderTest): string | null {
  return probes[backend]()
}

function notRoot(): string | null {
  return process.geteuid?.() === 0 ? null : 'only root can use it here'
}

function engineMissing(program: 'dockerd' | 'podman'): string | null {
  try {
    installEngine(program)
    return whyNot(program, '--version')
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
