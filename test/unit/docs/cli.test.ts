import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { verbs } from '../../../src/cli/arguments/verbs.ts'
import { Cli } from '../../../src/cli/cli.ts'
import { buildProgram, loadVerbs } from '../../../src/cli/program.ts'
import { codeWords, readPage, sectionOf } from './markdown.ts'

const page = readPage('docs/cli.md')
const names = [...verbs].filter(([, verb]) => !verb.hidden).map(([name]) => name)
const cli = new Cli({ stdout: process.stdout, stderr: process.stderr })
const program = buildProgram(cli, await loadVerbs(cli, names))

function commandOf(name: string): Command {
  const command = program.commands.find((each) => each.name() === name)
  if (command === undefined) throw new Error(`no verb ${name}`)
  return command
}

/** The long names of the options that are the verb's own. */
function ownOptions(name: string): string[] {
  const shared = new Set(program.options.map((option) => option.long))
  return commandOf(name)
    .options.map((option) => option.long ?? '')
    .filter((long) => long !== '' && !shared.has(long))
    .sort()
}

function optionsOnPage(name: string): string[] {
  const rows = sectionOf(page, name).matchAll(/^\| (`-.*?) \|/gm)
  const flags = Array.from(rows, ([, cell = '']) => codeWords(cell).join(' '))
  return flags.map((text) => /--[a-z0-9-]+/.exec(text)?.[0] ?? '').sort()
}

describe('the page on the command line', () => {
  test('has a section for every verb, and for no other', () => {
    const sections = Array.from(page.text.matchAll(/^### (\S+)$/gm), ([, title = '']) => title)
    expect(sections.sort()).toEqual([...new Set([...names, 'quickstart'])].sort())
  })

  test.each(names)('lists every option of %s', (name) => {
    expect(optionsOnPage(name)).toEqual(ownOptions(name))
  })

  test('lists the options that every verb has', () => {
    const listed = codeWords(sectionOf(page, 'Options of every verb'))
    const missing = program.options.filter(
      ({ long }) => !listed.some((word) => word.includes(long ?? '')),
    )
    expect(missing.map(({ long }) => long)).toEqual([])
  })
})
