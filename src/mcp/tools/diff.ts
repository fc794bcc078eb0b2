import * as z from 'zod'
import { InvalidInputError } from '../../model/errors.ts'
import { wholeCharacters } from '../output/clip.ts'
import { type Call, tool } from '../tool.ts'
import * as f from './fields.ts'

const mostChanges = 1000
const defaultPatchBytes = 64 * 1024
const mostPatchBytes = 512 * 1024

export const diff = tool({
  name: 'diff',
  title: 'Compare files',
  description:
    'Shows which files changed, with patches of text files: since the last snapshot of an environment, or between it (or a snapshot) and another environment or snapshot. Use it to judge what an attempt really did before you keep it.',
  effect: 'reads',
  input: {
    environment: f.environment.optional(),
    snapshot: f.snapshot.optional(),
    to: f.environment
      .optional()
      .describe('id or name of the environment or snapshot to compare with'),
    paths: z.array(f.path).max(100).optional().describe('only below these'),
    patch: z.boolean().default(true).describe('with the changed lines of text files'),
    offset: f.offset.describe('where to begin in the patch, in bytes'),
    limitBytes: z.int().min(1).max(mostPatchBytes).default(defaultPatchBytes),
  },
  output: {
    changes: z.array(z.object({ path: z.string(), kind: z.string(), sizeDelta: z.number() })),
    total: z.number().describe('how many files changed'),
    patch: z.string(),
    next: z.nullable(z.number()).describe('where the patch continues; null: this is its end'),
  },
  run: async ({ environment, snapshot, to, paths, patch, offset, limitBytes }, call) => {
    const { workspace, signal } = call
    const of = await oneOf(environment, snapshot, call)
    const other = to === undefined ? undefined : await workspace.find(to)
    const wanted = { patch: patch ? ('text' as const) : ('none' as const), signal }
    const compared = await of.diff(other, paths === undefined ? wanted : { ...wanted, paths })
    const all = Buffer.from(compared.patch)
    const rest = all.subarray(offset)
    const piece = rest.length <= limitBytes ? rest : wholeCharacters(rest.subarray(0, limitBytes))
    const changes = compared.changes
      .slice(0, mostChanges)
      .map(({ path, kind, sizeDelta }) => ({ path, kind, sizeDelta }))
    const next = piece.length < rest.length ? offset + piece.length : null
    return { changes, total: compared.changes.length, patch: piece.toString('utf8'), next }
  },
})

async function oneOf(
  environment: string | undefined,
  snapshot: string | undefined,
  { workspace }: Call,
) {
  if (environment !== undefined && snapshot === undefined) {
    return await workspace.environment(environment)
  }
  if (snapshot !== undefined && environment === undefined) return await workspace.snapshot(snapshot)
  throw new InvalidInputError('give an environment or a snapshot', {
    remedy: 'one of them, and `to` for the other side',
  })
}
