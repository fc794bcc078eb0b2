/** For `expect.poll`: other tests may keep the machine busy. */
export const patiently = { timeout: 60_000 }
