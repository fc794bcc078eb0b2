import { promises } from './promises/all.ts'
import { examples } from './promises/examples.ts'
import { killing } from './promises/killing.ts'

/** What is asked of the backends that users can choose. */
export const allCases = [...promises, ...examples, ...killing]
