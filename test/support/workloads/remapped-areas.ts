import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../../../src/index.ts'
import { compileC } from '../real-programs.ts'
import { TemporaryDirectory } from '../temporary-directory.ts'
import { run } from './run.ts'

const source = fileURLToPath(new URL('remapped-areas.c', import.meta.url))

export async function startAreas(env: Environment): Promise<void> {
  using directory = new TemporaryDirectory()
  const program = directory.file('areas')
  compileC(readFileSync(source, 'utf8'), program)
  await run(env, 'mkdir -p /root/areas')
  await env.files.write('/root/areas/areas', readFileSync(program))
  await run(env, 'chmod +x /root/areas/areas')
  await run(env, '/root/areas/areas /root/areas > /root/areas/log 2>&1 &')
}

export interface Told {
  /** of an area: whether its content is right, what it is mapped from, and its flags */
  readonly areas: Readonly<Record<string, readonly [content: string, from: string, flags: string]>>
  readonly numbers: Readonly<Record<string, number>>
}

export async function askAreas(env: Environment): Promise<Told> {
  const words =
    'cd /root/areas; rm -f told; touch ask; until [ -e told ]; do sleep 0.05; done; cat told'
  const lines = (await run(env, words)).split('\n').map((line) => line.trim().split('|'))
  const areas = lines.flatMap(([name, content, from, flags]) =>
    name && content && from && flags ? [[name, [content, from, flags]] as const] : [],
  )
  const numbers = lines.flatMap(([name, number, ...others]) =>
    name && number && others.length === 0 ? [[name, Number(number)] as const] : [],
  )
  return { areas: Object.fromEntries(areas), numbers: Object.fromEntries(numbers) }
}
