/** Waits for any number of jobs, without keeping those that have ended in memory. */
export class Outstanding {
  #count = 0
  #failure: { readonly error: unknown } | null = null
  #waiting: PromiseWithResolvers<void> | null = null

  get count(): number {
    return this.#count
  }

  add(work: Promise<void>): void {
    this.#count += 1
    work.then(
      () => this.#end(),
      (error: unknown) => {
        this.#failure ??= { error }
        this.#end()
      },
    )
  }

  /** Resolves when everything has ended; throws the first failure. */
  async all(): Promise<void> {
    if (this.#count > 0) {
      this.#waiting ??= Promise.withResolvers()
      await this.#waiting.promise
    }
    if (this.#failure) throw this.#failure.error
  }

  #end(): void {
    this.#count -= 1
    if (this.#count === 0) this.#waiting?.resolve()
  }
}
