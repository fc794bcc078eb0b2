import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type {
  CallToolResult,
  ServerNotification,
  ServerRequest,
  ToolAnnotations,
} from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'
import type { Workspace } from './workspace.ts'

/** One call of a tool. */
export interface Call {
  readonly workspace: Workspace
  /** aborts when the client cancels the call */
  readonly signal: AbortSignal
  /** Tells a client that asked for it how far the call is. */
  progress(message: string, done?: number, total?: number): void
}

/** What a tool does to the world: nothing, something that can be undone, or something that cannot. */
export type Effect = 'reads' | 'changes' | 'destroys'

interface Definition<I extends z.ZodRawShape, O extends z.ZodRawShape> {
  readonly name: string
  readonly title: string
  /** for a model: what it does, and when to use it */
  readonly description: string
  readonly effect: Effect
  readonly input: I
  readonly output: O
  readonly run: (input: z.output<z.ZodObject<I>>, call: Call) => Promise<z.input<z.ZodObject<O>>>
}

export interface Tool {
  readonly name: string
  addTo(server: McpServer, workspace: Workspace): void
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

export function tool<I extends z.ZodRawShape, O extends z.ZodRawShape>(
  definition: Definition<I, O>,
): Tool {
  const { name, title, description, effect, run } = definition
  // A misspelled argument is an error that a model can correct, not something to ignore.
  const input = z.strictObject(definition.input)
  const output: z.ZodType = z.object(definition.output)
  const annotations = annotationsOf(title, effect)
  return {
    name,
    addTo: (server, workspace) => {
      const inputSchema: z.ZodType = input
      const config = { title, description, annotations, inputSchema, outputSchema: output }
      server.registerTool(name, config, async (given: unknown, extra: Extra) =>
        answerOf(async () => {
          const call = { workspace, signal: extra.signal, progress: progressOf(extra) }
          return await run(input.parse(given), call)
        }),
      )
    },
  }
}

/** The result as data, and as text for clients that only show text. A failure tells the model what to do. */
async function answerOf(work: () => Promise<object>): Promise<CallToolResult> {
  try {
    const structuredContent = { ...(await work()) }
    return {
      content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
      structuredContent,
    }
  } catch (error) {
    return { content: [{ type: 'text', text: failureText(error) }], isError: true }
  }
}

/** Errors may be of a class of another bundle, so their fields say what they are. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, remedy } = error as { code?: unknown; remedy?: unknown }
  const kind = typeof code === 'string' ? `${code}: ` : ''
  return typeof remedy === 'string'
    ? `${kind}${error.message}; ${remedy}`
    : `${kind}${error.message}`
}

function annotationsOf(title: string, effect: Effect): ToolAnnotations {
  return {
    title,
    readOnlyHint: effect === 'reads',
    destructiveHint: effect === 'destroys',
    idempotentHint: effect === 'reads',
    // Environments are a closed world, which their network may open.
    openWorldHint: false,
  }
}

function progressOf({ _meta, sendNotification }: Extra): Call['progress'] {
  const progressToken = _meta?.progressToken
  let steps = 0
  return (message, done, total) => {
    if (progressToken === undefined) return
    steps += 1
    const progress = done ?? steps
    const params = { progressToken, progress, message, ...(total !== undefined && { total }) }
    // A client that went away needs no progress; the call itself learns of it.
    sendNotification({ method: 'notifications/progress', params }).catch(() => {})
  }
}
