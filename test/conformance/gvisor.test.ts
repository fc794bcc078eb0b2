import { conformance } from './conformance.ts'
import { imageSurroundings } from './image-surroundings.ts'

conformance('gvisor', imageSurroundings)
