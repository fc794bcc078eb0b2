// What a newcomer does at the end of the first hour: get the results out of an environment.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { CliHome } from './cli-home.ts'

const cli = new CliHome()
const host = new TemporaryDirectory()
const project = host.file('project')

beforeAll(async () => {
  mkdirSync(`${project}/src`, { recursive: true })
  writeFileSync(`${project}/.gitignore`, 'node_modules/\n*.log\n')
  writeFileSync(`${project}/README`, 'read me\n')
  writeFileSync(`${project}/src/main.js`, 'one\n')
  writeFileSync(`${project}/src/other.js`, 'other\n')
  writeFileSync(`${project}/src/gone.js`, 'gone\n')
  await cli.must('create', '--name', 'web', '--workdir', '/srv/made/here')
})

afterAll(async () => {
  host[Symbol.dispose]()
  await cli[Symbol.asyncDispose]()
})

test('a working directory that does not exist is made, or the environment is not', async () => {
  expect(await cli.must('exec', 'web', '--', 'pwd')).toBe('/srv/made/here\n')
  const refused = await cli.run(['create', '--name', 'bad', '--workdir', '/etc/passwd/x'])
  expect(refused.exitCode).not.toBe(0)
  expect(refused.stderr).toMatch(/\/etc\/passwd\/x[\s\S]*remedy:/)
  expect((await cli.json('ls')).document).toHaveLength(1)
})

test('export copies the directory that the shell is in, or the one that is named, without what is excluded', async () => {
  const inside = [
    'mkdir -p /app/node_modules/x /app/sub && cd /app',
    'echo result > out; echo x > node_modules/x/index.js; echo noise > a.log',
    'echo node_modules > .gitignore; echo deep > sub/deep.tmp; ln sub/deep.tmp sub/same',
  ]
  await cli.must('exec', 'web', '--', inside.join('; '))
  const all = await cli.run(['export', 'web', host.file('here')])
  expect(all).toMatchObject({ exitCode: 0, stderr: '' })
  expect(tree(host.file('here'))).toContain('./node_modules/x/index.js')
  await cli.must('export', 'web', '/app/sub', host.file('named'))
  expect(tree(host.file('named'))).toEqual(['.', './deep.tmp', './same'])

  const { document } = await cli.json(
    'export',
    'web',
    '/app',
    host.file('part'),
    '--gitignore',
    '--exclude',
    '*.log',
  )
  const part = tree(host.file('part'))
  expect(part).toEqual(['.', './.gitignore', './out', './sub', './sub/deep.tmp', './sub/same'])
  expect(document).toMatchObject({ entries: part.length })
  const half = await cli.run(['export', 'web', '/app', host.file('half'), '--exclude', '*.tmp'])
  expect(half).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('a second name of') })
  expect(existsSync(host.file('half'))).toBe(false)
  const missing = await cli.run(['export', 'web', '/no/such', host.file('missing')])
  expect(missing).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('/no/such') })
})

test('export says how much it is before it copies more than a little', async () => {
  await cli.must('exec', 'web', '--', 'mkdir /big && cd /big && truncate -s 200M sparse')
  const { stderr } = await cli.run(['export', 'web', host.file('big')])
  expect(stderr).toMatch(/^forkpoint: copying \/big, 2 entries, 200 MiB; Ctrl-C stops it/)
})

test('apply brings back what forks changed in a project that was copied in', async () => {
  await cli.must('cp', project, 'web:/copied')
  await cli.must('fork', 'web', '-n', '2', '--name', 'try')
  const inside = [
    'cd /copied && echo two > src/main.js && rm src/gone.js && mkdir node_modules',
    'echo new > src/new.js; echo x > node_modules/x; echo noise > a.log; chmod 755 README; cd /',
  ]
  await cli.must('exec', 'try-1', '--', inside.join('; '))
  await cli.must(
    'exec',
    'try-2',
    '--',
    'cd /copied; echo three > src/main.js; echo deep > src/deep',
  )

  // Somebody goes on working here meanwhile.
  writeFileSync(`${project}/src/other.js`, 'edited here\n')
  const plan = await cli.json('apply', 'try-1', project, '--dry-run', '--gitignore')
  expect(plan).toMatchObject({ exitCode: 0, document: { path: '/copied', conflicts: [] } })
  const planned = plan.document.changes.map(({ path }: { path: string }) => path)
  const paths = [
    '/copied/README',
    '/copied/src/gone.js',
    '/copied/src/main.js',
    '/copied/src/new.js',
  ]
  expect(planned).toEqual(paths)
  expect(readFileSync(`${project}/src/main.js`, 'utf8')).toBe('one\n')

  expect(await cli.must('apply', 'try-1', project, '--gitignore')).toMatch(
    /applied 4 changes of \/copied\n$/,
  )
  expect(readFileSync(`${project}/src/main.js`, 'utf8')).toBe('two\n')
  expect(readFileSync(`${project}/src/other.js`, 'utf8')).toBe('edited here\n')
  expect(existsSync(`${project}/src/gone.js`)).toBe(false)
  expect(existsSync(`${project}/node_modules`)).toBe(false)
  expect(await cli.must('apply', 'try-1', project, '--gitignore')).toMatch(/applied 0 changes/)

  const conflict = await cli.run(['apply', 'try-2', project])
  expect(conflict).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('src/main.js') })
  expect(readFileSync(`${project}/src/main.js`, 'utf8')).toBe('two\n')
  expect(existsSync(`${project}/src/deep`)).toBe(false)
  await cli.must('apply', 'try-2', project, '--path', 'src/deep')
  expect(readFileSync(`${project}/src/deep`, 'utf8')).toBe('deep\n')
  const outside = await cli.run(['apply', 'try-2', project, '--path', '/etc'])
  expect(outside).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('not below') })
})

test('a restore to before the copy forgets it', async () => {
  await cli.must('snapshot', 'web', '--name', 'before')
  rmSync(host.file('late'), { recursive: true, force: true })
  mkdirSync(host.file('late'))
  writeFileSync(host.file('late/x'), 'x\n')
  await cli.must('cp', host.file('late'), 'web:/late')
  expect((await cli.json('ls')).document[0].copies).toHaveLength(2)
  await cli.must('restore', 'web', 'before')
  expect((await cli.json('ls')).document[0].copies).toMatchObject([{ path: '/copied' }])
})

test('nothing of it stays when the last environment and snapshot are gone', async () => {
  expect(readdirSync(`${cli.home.path}/copies`)).not.toEqual([])
  await cli.must('rm', '--all', '--force')
  await cli.must('prune', '--force')
  expect(existsSync(`${cli.home.path}/copies`)).toBe(false)
})

function tree(path: string): string[] {
  const found = execFileSync('find', ['.'], { cwd: path, encoding: 'utf8' })
  return found.trim().split('\n').sort()
}
