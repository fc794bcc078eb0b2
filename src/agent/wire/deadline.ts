/** Waits for `work`; throws `late` after `ms`, or the reason if `signal` aborts. */
export async function within<T>(
  work: Promise<T>,
  ms: number,
  late: Error,
  signal: AbortSignal | undefined,
): Promise<T> {
  signal?.throwIfAborted()
  const cut = Promise.withResolvers<never>()
  const timer = setTimeout(() => cut.reject(late), ms)
  const onAbort = () => cut.reject(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, cut.promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}
