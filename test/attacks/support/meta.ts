declare module 'vitest' {
  interface TaskMeta {
    /** how often the attack of this test was made */
    attackRuns?: number
  }
}
