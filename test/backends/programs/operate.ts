// Does one operation in a process of its own, which the test kills on the way.
import { openForkpoint } from '../support/open-forkpoint.ts'

const [backend, home = '', verb, workspace = ''] = process.argv.slice(2)
if (backend !== 'gvisor' && backend !== 'criu' && backend !== 'native')
  throw new Error(`no such backend: ${backend}`)

await using opened = await openForkpoint(backend, home)
if (verb === 'create') await opened.fp.create({ from: `dir:${workspace}`, name: 'made' })
else if (verb === 'snapshot') await (await opened.fp.get('env')).snapshot({ name: 'taken' })
else if (verb === 'attach') await opened.fp.attach({ target: workspace, name: 'made' })
else if (verb === 'remove') await (await opened.fp.get('env')).remove()
else if (verb === 'fork') await (await opened.fp.get('env')).fork(1, { name: 'forked' })
else throw new Error(`no such operation: ${verb}`)
