import { readFile, writeFile } from 'node:fs/promises'
import type { Identity } from '../backend.ts'
import { agentInside } from './bundle.ts'
import type { Gvisor } from './gvisor.ts'
import type { LifePlaces } from './places.ts'

/** Notes who an environment is. It learns it as soon as it runs. */
export async function noteIdentity(life: LifePlaces, identity: Identity): Promise<void> {
  await writeFile(life.identity, `${JSON.stringify(identity, null, 2)}\n`)
}

/** Tells a running environment who it is: nobody outside can write to its files. */
export async function tellIdentity({ runsc }: Gvisor, life: LifePlaces): Promise<void> {
  const text = await readFile(life.identity, 'utf8')
  const { hostname }: Pick<Identity, 'hostname'> = JSON.parse(text)
  const words = [agentInside, '--identify', text, '--hostname', hostname]
  // Only this process may change the kernel's hostname.
  const may = ['--cap', 'CAP_SYS_ADMIN', '--cap', 'CAP_DAC_OVERRIDE']
  await runsc.ask(`naming ${life.container}`, 'exec', ...may, life.container, ...words)
}
