import * as z from 'zod/mini'

const text = z.string()
const size = z.object({ cols: z.int(), rows: z.int() })
const bytes = z.string()

export const selector = z.union([
  z.object({ pid: z.int().check(z.minimum(1)) }),
  z.object({ tag: text }),
])

const process = z.object({ process: selector })

export const startRequest = z.object({
  process: z.object({
    cmd: text,
    args: z.optional(z.array(text)),
    envs: z.optional(z.record(text, text)),
    cwd: z.optional(text),
  }),
  pty: z.optional(z.object({ size: z.optional(size) })),
  tag: z.optional(text),
  stdin: z.optional(z.boolean()),
})

export const processRequest = process

export const inputRequest = z.extend(process, {
  input: z.union([z.object({ stdin: bytes }), z.object({ pty: bytes })]),
})

export const signalRequest = z.extend(process, {
  signal: z.union([z.enum(['SIGNAL_SIGTERM', 'SIGNAL_SIGKILL']), z.literal(15), z.literal(9)]),
})

export const updateRequest = z.extend(process, { pty: z.optional(z.object({ size })) })

export const pathRequest = z.object({ path: text })

export const listRequest = z.object({ path: text, depth: z.optional(z.int()) })

export const moveRequest = z.object({ source: text, destination: text })

export const watchRequest = z.object({
  path: text,
  recursive: z.optional(z.boolean()),
  includeEntry: z.optional(z.boolean()),
})

export const watcherRequest = z.object({ watcherId: text })
