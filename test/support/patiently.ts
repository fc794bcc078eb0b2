/** For `expect.poll`: other tests may keep the machine busy meanwhile. */
export const patiently = { timeout: 20_000 }
