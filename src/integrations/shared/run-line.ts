import type { Environment } from '../../api/handles/environment.ts'

export interface LineOptions {
  /** the most that is kept of what it prints */
  readonly limitBytes: number
  readonly timeoutMs?: number | undefined
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Line {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  /** both, as they came */
  readonly output: string
  readonly truncated: boolean
  readonly timedOut: boolean
}

/** Runs a command line in a bash of its own, so that several can run at once and none can end another. */
export async function runLine(
  environment: Environment,
  line: string,
  { limitBytes, timeoutMs, cwd, env, signal }: LineOptions,
): Promise<Line> {
  const chunks: { readonly from: 'stdout' | 'stderr'; readonly bytes: Buffer }[] = []
  let kept = 0
  let truncated = false
  const keep = (from: 'stdout' | 'stderr') => (chunk: Buffer) => {
    const bytes = chunk.subarray(0, limitBytes - kept)
    truncated ||= bytes.length < chunk.length
    kept += bytes.length
    if (bytes.length > 0) chunks.push({ from, bytes })
  }
  const { exitCode, timedOut } = await environment.exec(['bash', '-c', line], {
    mode: 'process',
    onStdout: keep('stdout'),
    onStderr: keep('stderr'),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
    ...(signal !== undefined && { signal }),
  })
  const textOf = (...names: string[]) =>
    Buffer.concat(
      chunks.filter(({ from }) => names.includes(from)).map(({ bytes }) => bytes),
    ).toString('utf8')
  return {
    exitCode,
    stdout: textOf('stdout'),
    stderr: textOf('stderr'),
    output: textOf('stdout', 'stderr'),
    truncated,
    timedOut,
  }
}
