import { conformance } from './conformance.ts'

conformance('criu')
