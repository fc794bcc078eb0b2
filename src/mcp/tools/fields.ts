import * as z from 'zod'

// Arguments that several tools have: the same name always means the same thing.

const longestReference = 256
const longestLine = 256 * 1024
const longestPath = 4096

/** Hard caps, whatever a client asks for. */
export const mostOutputBytes = 256 * 1024
export const mostFileBytes = 1024 ** 2
export const mostForks = 64
const longestTimeoutMs = 3_600_000
const longestWaitMs = 60_000

const text = (most: number) => z.string().min(1).max(most)

export const environment = text(longestReference).describe('id or name of an environment')

export const snapshot = text(longestReference).describe('id or name of a snapshot')

export const command = text(longestLine).describe('a command line for bash')

export const commandId = text(longestReference).describe(
  'id of a command, as exec and start_command return it',
)

export const count = z.int().min(1).max(mostForks)

export const name = text(63).describe('a name: letters, digits, ".", "_", "-"')

export const path = text(longestPath).startsWith('/').describe('an absolute path inside')

export const terminal = text(63).default('main').describe('name of a terminal')

export const timeoutMs = z
  .int()
  .min(1)
  .max(longestTimeoutMs)
  .default(120_000)
  .describe('the command is ended after this time')

export const limitBytes = z
  .int()
  .min(1)
  .max(mostOutputBytes)
  .default(16 * 1024)
  .describe('how much to return of each of stdout and stderr')

export const waitMs = (most: number) => z.int().min(0).max(longestWaitMs).default(most)

export const offset = z.int().min(0).default(0)

/** Fields of results. */
export const ran = {
  command: z.string().describe('its id, for read_command'),
  exitCode: z.nullable(z.number()),
  signal: z.nullable(z.string()),
  stdout: z.string(),
  stderr: z.string(),
  stdoutBytes: z.number(),
  stderrBytes: z.number(),
  truncated: z.boolean().describe('whether output is left out; read_command reads the rest'),
  timedOut: z.boolean(),
  durationMs: z.number(),
}
