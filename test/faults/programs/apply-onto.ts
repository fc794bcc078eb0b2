// Applies changes to a directory, as the caller of a remote engine does: apply-onto.ts <target> <state>.
import { applyTo } from '../../../src/api/host/apply.ts'
import { applySource } from '../support/apply-source.ts'

const [target = '', stateDir = ''] = process.argv.slice(2)
await applyTo(target, applySource(), { stateDir })
