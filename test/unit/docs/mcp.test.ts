import { parse as parseToml } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { forkdTools } from '../../../src/mcp/forkd/forkd-tools.ts'
import { defaultOptions, optionsOfQuery } from '../../../src/mcp/options.ts'
import { forkpointTools } from '../../../src/mcp/tools/all.ts'
import { blocksOf, codeWords, type Page, readPage, sectionOf } from './markdown.ts'

const page = readPage('docs/mcp.md')

// What the configuration files of these programs look like, as their documentation has it. Strict: a key
// that they do not know would be ignored there, so that nothing works and nobody is told.
const url = z.url()
const variables = z.record(z.string(), z.string())
const program = { command: z.literal('forkpoint'), args: z.array(z.string()) }
const one = <T extends z.ZodType>(server: T) => z.strictObject({ forkpoint: server })

const formats: Readonly<Record<string, z.ZodType>> = {
  'Claude Code': z.strictObject({
    mcpServers: one(
      z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('stdio'), ...program, env: variables.optional() }),
        z.strictObject({ type: z.literal('http'), url, headers: variables.optional() }),
      ]),
    ),
  }),
  Codex: z.strictObject({
    mcp_servers: one(
      z.union([
        z.strictObject({ ...program, env: variables.optional(), tool_timeout_sec: z.number() }),
        z.strictObject({ url, bearer_token_env_var: z.string() }),
      ]),
    ),
  }),
  Cursor: z.strictObject({
    mcpServers: one(z.strictObject({ ...program, env: variables.optional() })),
  }),
  'VS Code': z.strictObject({
    inputs: z
      .array(
        z.strictObject({
          type: z.literal('promptString'),
          id: z.string(),
          description: z.string(),
          password: z.boolean(),
        }),
      )
      .optional(),
    servers: one(
      z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('stdio'), ...program, env: variables.optional() }),
        z.strictObject({ type: z.literal('http'), url, headers: variables.optional() }),
      ]),
    ),
  }),
  Zed: z.strictObject({
    context_servers: one(z.strictObject({ ...program, env: variables.optional() })),
  }),
  'Claude Desktop': z.strictObject({
    mcpServers: one(z.strictObject({ ...program, env: variables.optional() })),
  }),
}

/** The configurations that the page shows for a program. */
function configurationsOf(title: string): unknown[] {
  const section: Page = { path: page.path, text: sectionOf(page, title) }
  return [
    ...blocksOf(section, 'json').map(({ text }): unknown => JSON.parse(text)),
    ...blocksOf(section, 'toml').map(({ text }): unknown => parseToml(text)),
  ]
}

describe('the page on MCP', () => {
  test.each(Object.entries(formats))('has configurations for %s in its format', (title, format) => {
    const all = configurationsOf(title)
    expect(all.length).toBeGreaterThan(0)
    for (const each of all) expect(z.prettifyError(problems(format, each))).toBe('')
  })

  test('starts the server in each of them with arguments that it accepts', () => {
    const words = JSON.stringify(Object.keys(formats).map(configurationsOf))
    expect([...words.matchAll(/"args":\[(.*?)\]/g)].map(([, args]) => args)).toEqual([
      '"mcp"',
      '"mcp"',
      '"mcp"',
      '"mcp"',
      '"mcp"',
      '"mcp","--host","https://build-1:7070"',
    ])
  })

  test('lists every tool, and no other', () => {
    const rows = sectionOf(page, 'Tools').matchAll(/^\| (`.*?) \|/gm)
    const listed = Array.from(rows, ([, cell = '']) => codeWords(cell)).flat()
    expect(listed.sort()).toEqual(forkpointTools.map(({ name }) => name).sort())
    const forkd = codeWords(sectionOf(page, 'Coming from forkd'))
    expect(forkdTools.filter(({ name }) => !forkd.includes(name))).toEqual([])
  })

  test('shows options of the URL that are accepted', () => {
    const queries = codeWords(sectionOf(page, 'Safety')).filter((word) => word.startsWith('?'))
    expect(queries.length).toBe(5)
    for (const query of queries) {
      expect(optionsOfQuery(new URLSearchParams(query)), query).not.toEqual(defaultOptions)
    }
  })
})

function problems(format: z.ZodType, value: unknown): z.ZodError {
  return format.safeParse(value).error ?? new z.ZodError([])
}
