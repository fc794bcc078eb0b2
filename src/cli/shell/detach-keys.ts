/** Ctrl-] */
const escapeKey = 0x1d
const detachKey = 'd'.charCodeAt(0)

export interface Typed {
  /** to be typed inside */
  readonly pass: Buffer
  readonly detach: boolean
}

/**
 * Looks for Ctrl-] d in the input. Ctrl-] twice types one; before any other key it is typed
 * too, so that nothing is lost.
 */
export class DetachKeys {
  #isPending = false

  type(data: Buffer): Typed {
    const pass: number[] = []
    for (const byte of data) {
      if (this.#isPending) {
        this.#isPending = false
        if (byte === detachKey) return { pass: Buffer.from(pass), detach: true }
        pass.push(escapeKey)
        if (byte !== escapeKey) pass.push(byte)
      } else if (byte === escapeKey) {
        this.#isPending = true
      } else {
        pass.push(byte)
      }
    }
    return { pass: Buffer.from(pass), detach: false }
  }
}
