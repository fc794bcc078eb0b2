// The C programs that the package carries, each run: those of the other kind of machine through qemu.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { execCommand } from '../../../src/agent/commands/exec.ts'
import { readFile, writeFile } from '../../../src/agent/files/file-content.ts'
import { TestAgent } from '../../cells/agent/run-agent.ts'
import {
  isPackaged,
  machines,
  packagedProgram,
  whyNoPackage,
  whyNotRun,
} from '../../support/package/machines.ts'

describe.each(machines)('the programs for $name', (machine) => {
  test('are static, for that machine, and without debug information', (ctx) => {
    if (!isPackaged(machine) && whyNoPackage !== null) ctx.skip(whyNoPackage)
    for (const program of ['agent', 'cell']) {
      const elf = readFileSync(packagedProgram(machine, program))
      expect(elf.subarray(0, 4).toString('latin1')).toBe('\u007fELF')
      expect(elf.readUInt16LE(18)).toBe(machine.elf)
      expect(segmentTypes(elf)).not.toContain(interpreterSegment)
      expect(elf.includes('.debug_info')).toBe(false)
    }
    for (const library of ['preload.so', 'limits.so', 'foreign.so']) {
      expect(readFileSync(packagedProgram(machine, library)).readUInt16LE(18)).toBe(machine.elf)
    }
  })

  test('run: the helper writes its filter, and the agent runs commands and moves files', async (ctx) => {
    const why = whyNotRun(machine) ?? (isPackaged(machine) ? null : whyNoPackage)
    if (why !== null) ctx.skip(why)
    const [program = '', ...words] = [
      ...machine.through,
      packagedProgram(machine, 'cell'),
      'filter',
    ]
    expect(execFileSync(program, words)).toEqual(readFileSync(packagedProgram(machine, 'filter')))

    const through = machine.through.map((each) =>
      execFileSync('which', [each], { encoding: 'utf8' }).trim(),
    )
    await using agent = await TestAgent.start(packagedProgram(machine, 'agent'), through)
    const connection = await agent.connect()
    const ran = await execCommand(connection, {
      mode: 'process',
      command: ['/bin/sh', '-c', 'cat; echo err >&2; exit 3'],
      stdin: Buffer.from('fed in\n'),
    })
    expect(ran).toMatchObject({ exitCode: 3 })
    expect(ran.stdout.toString()).toBe('fed in\n')
    expect(ran.stderr.toString()).toBe('err\n')
    await writeFile(connection, agent.path('file'), Buffer.from('content'), {})
    expect((await readFile(connection, agent.path('file'))).toString()).toBe('content')
  })
})

const interpreterSegment = 3

/** The types of the program headers of a 64-bit ELF file. */
function segmentTypes(elf: Buffer): number[] {
  const [start, size, count] = [
    Number(elf.readBigUInt64LE(32)),
    elf.readUInt16LE(54),
    elf.readUInt16LE(56),
  ]
  return Array.from({ length: count }, (_, index) => elf.readUInt32LE(start + index * size))
}
