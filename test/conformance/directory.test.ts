import { conformance } from './conformance.ts'

conformance('directory')
