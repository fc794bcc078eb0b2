import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { whyNot } from '../probe.ts'

export const root = resolve(import.meta.dirname, '../../..')

/** A kind of machine that the package has programs for. */
export interface Machine {
  /** as Node calls it */
  readonly name: 'x64' | 'arm64'
  /** its number in the header of an ELF file */
  readonly elf: number
  /** what runs its programs here */
  readonly through: readonly string[]
}

export const machines: readonly Machine[] = [
  { name: 'x64', elf: 62, through: process.arch === 'x64' ? [] : ['qemu-x86_64-static'] },
  { name: 'arm64', elf: 183, through: process.arch === 'arm64' ? [] : ['qemu-aarch64-static'] },
]

const otherCompiler = process.arch === 'arm64' ? 'x86_64-linux-gnu-gcc' : 'aarch64-linux-gnu-gcc'

/** Why the package cannot be made here; null if it can. */
export const whyNoPackage: string | null =
  whyNot(otherCompiler, '--version') ?? whyNot('npm', '--version')

/** Why programs of this machine cannot run here; null if they can. */
export function whyNotRun({ through }: Machine): string | null {
  const [program] = through
  return program === undefined ? null : whyNot(program, '--version')
}

export function packagedProgram({ name }: Machine, program: string): string {
  return join(root, 'native/build', name, program)
}

export function isPackaged(machine: Machine): boolean {
  return existsSync(packagedProgram(machine, 'agent'))
}
