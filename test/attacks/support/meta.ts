// What a test of an attack tells the reporter of the closing lines.
import 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** how often the attack of this test was made */
    attackRuns?: number
  }
}
