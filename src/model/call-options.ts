/** Options of every call that may have to wait. */
export interface CallOptions {
  /** stops the call, and undoes what it has begun */
  readonly signal?: AbortSignal | undefined
  /** the same call with the same key is carried out once, and answered alike each time */
  readonly idempotencyKey?: string | undefined
  /** on whose behalf, where several share an engine: those who wait take turns by it */
  readonly principal?: string | undefined
}
