import { branching } from './branching.ts'
import { enduring } from './enduring.ts'
import { keeping } from './keeping.ts'
import { managing } from './managing.ts'
import { running } from './running.ts'
import { using } from './using.ts'

export const promises = [...running, ...using, ...branching, ...enduring, ...keeping, ...managing]
