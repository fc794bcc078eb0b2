// Runs the suite in a separate process, and prints one line of JSON for each promise.
import { promises } from '../promises/all.ts'
import { check, expectNothingLeft } from '../promises/promise.ts'
import { openSubject, registries } from '../subject.ts'

const [backend = '', home = '', workspace = '', rootfs = ''] = process.argv.slice(2)
if (backend !== 'native' && backend !== 'directory') {
  throw new Error(`not one of ${Object.keys(registries).join(', ')}: ${backend}`)
}

await using subject = await openSubject(backend, {
  home,
  workspace,
  rootfs,
  image: 'debian:12',
  dockerfile: workspace,
  oci: workspace,
  archive: `${workspace}/given.txt`,
  container: 'theirs',
  from: `dir:${workspace}`,
})
for (const promise of promises) {
  let failure: string | null = null
  try {
    await check(promise, subject)
    await expectNothingLeft(subject)
  } catch (error) {
    failure = error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
  console.log(JSON.stringify({ title: promise.title, uid: process.getuid?.(), failure }))
}
