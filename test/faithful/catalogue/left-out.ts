/** Programs that do not run through copies here, and why. */
export const leftOut: ReadonlyMap<string, string> = new Map([
  ['tcp-busy', 'a loopback connection with much to send cannot be restored'],
  ['tcp-full-buffers', 'the same'],
  ['tcp-half-closed', 'a half-closed connection is restored at random'],
])
