import { spawn } from 'node:child_process'
import { attackProgram } from './attack-program.ts'
import { LineReader } from './line-reader.ts'

/** Makes one attack on the host itself, as root. */
export async function runOnHost(
  name: string,
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const child = spawn(attackProgram(), ['run', name], { env: variables, stdio: [...stdio] })
  if (child.stdout !== null) await new LineReader(child.stdout).until('done')
}
