// Puts the matrix of a run onto docs/conformance.md:  node write-conformance.js RESULTS_DIRECTORY
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { matrixBackends, withMatrix } from '../test/setup/matrix.ts'

const [directory = ''] = process.argv.slice(2)
const page = join(import.meta.dirname, '../docs/conformance.md')
const { conformance } = JSON.parse(readFileSync(join(directory, 'summary.json'), 'utf8'))
const ran = conformance?.backends ?? []
const suite = join(import.meta.dirname, '../test/conformance')
const absent = matrixBackends.filter(
  (backend) => existsSync(join(suite, `${backend}.test.ts`)) && !ran.includes(backend),
)
if (absent.length > 0) throw new Error(`the suite did not run for ${absent.join(', ')}`)
writeFileSync(page, withMatrix(readFileSync(page, 'utf8'), conformance))
