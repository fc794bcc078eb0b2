/**
 * The documents of a body, one a line. Ends early if the connection is lost: whoever reads knows what the last
 * line is.
 */
export async function* jsonLines(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<unknown, void, undefined> {
  if (body === null) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const chunk = await readOrLost(reader)
      if (chunk === null) return
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      // Empty lines only show that the connection lives.
      for (const line of lines) if (line !== '') yield JSON.parse(line)
    }
  } finally {
    // A connection that is lost cannot be cancelled, and need not be.
    await reader.cancel().catch(() => {})
  }
}

async function readOrLost(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<Uint8Array | null> {
  try {
    const { value } = await reader.read()
    return value ?? null
  } catch {
    return null
  }
}
