import { ForkpointHandle } from '../../../src/api/handles/forkpoint.ts'
import type { Check, Remnant } from '../../../src/backends/backend.ts'
import { hostFacts } from '../../../src/config/host-facts.ts'
import { loadSettings } from '../../../src/config/load-settings.ts'
import { engineControl } from '../../../src/engine/control/engine-control.ts'
import { openEngine } from '../../../src/engine/engine.ts'
import { appliesIn } from '../../../src/engine/recovery/applies.ts'
import { type BackendUnderTest, registries } from '../../conformance/subject.ts'

export type ProcessBackend = Extract<BackendUnderTest, 'gvisor' | 'criu' | 'native'>

export interface Opened extends AsyncDisposable {
  readonly fp: ForkpointHandle
  remnants(): Promise<readonly Remnant[]>
  check(): Promise<readonly Check[]>
}

/** A home with one backend. */
export async function openForkpoint(
  backend: ProcessBackend,
  home: string,
  flags: Readonly<Record<string, string>> = {},
): Promise<Opened> {
  const { settings } = loadSettings({
    flags: { home, ...flags },
    env: process.env,
    facts: hostFacts(),
  })
  const engine = await openEngine(settings, { backends: registries[backend] })
  const fp = new ForkpointHandle(engineControl(engine), { stateDir: appliesIn(home) })
  return {
    fp,
    remnants: () => engine.backend(backend).remnants(),
    check: () => engine.backend(backend).check(),
    [Symbol.asyncDispose]: () => fp.close(),
  }
}
